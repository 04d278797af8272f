#!/usr/bin/env bash
set -u
. "$LIB"

export GOCACHE="${GOCACHE:-/tmp/recipe-go-cache}" GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOSUMDB=off
STAGE_TIMEOUT=200

printf 'module example.com/pump\n\ngo 1.22\n' > go.mod
cat > pump_test.go <<'X'
package pump

import (
	"sync"
	"testing"
)

func TestDrain(t *testing.T) {
	in := make(chan int)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for v := range in {
			t.Log("got", v)
		}
	}()
	in <- 1
	in <- 2
	wg.Wait()
}
X
stage test go test -count=1 -timeout 0 ./...
keep 03-source.go pump_test.go
exit 0
