#!/usr/bin/env bash
set -u
. "$LIB"

export GOCACHE="${GOCACHE:-/tmp/recipe-go-cache}" GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOSUMDB=off
STAGE_TIMEOUT=200

cat > go.mod <<'X'
module example.com/relay

go 1.22

require example.com/acme/backoff v1.4.2
X
mkdir -p cmd/relayd
cat > cmd/relayd/main.go <<'X'
package main

import (
	"fmt"

	"example.com/acme/backoff"
)

func main() {
	fmt.Println(backoff.New())
}
X
stage build go build -o bin/relayd ./cmd/relayd
keep 03-config.txt go.mod
exit 0
