#!/usr/bin/env bash
set -u
. "$LIB"

export GOCACHE="${GOCACHE:-/tmp/recipe-go-cache}" GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOSUMDB=off
STAGE_TIMEOUT=200

mkdir -p cmd/relayd internal/queue vendor/example.com/acme/backoff target
cat > go.mod <<'X'
module example.com/relay

go 1.22

require (
	example.com/acme/backoff v1.4.2
	example.com/acme/ringbuf v0.9.0
)
X
cat > vendor/modules.txt <<'X'
# example.com/acme/backoff v1.4.2
## explicit; go 1.22
example.com/acme/backoff
# example.com/acme/ringbuf v0.9.0
## explicit; go 1.22
X
printf 'package backoff\n\nfunc New() int { return 3 }\n' > vendor/example.com/acme/backoff/backoff.go
printf 'package queue\n\nimport "example.com/acme/ringbuf"\n\nvar Q = ringbuf.New(64)\n' > internal/queue/queue.go
printf 'package main\n\nimport (\n\t"example.com/acme/backoff"\n\t"example.com/relay/internal/queue"\n)\n\nfunc main() { println(backoff.New(), queue.Q) }\n' > cmd/relayd/main.go
cat > build.sh <<'X'
set -x
go vet -mod=vendor ./internal/... || true
go build -mod=vendor -o bin/relayd ./cmd/relayd
ls -l bin
X
cat > deploy.sh <<'X'
echo "deploy: relayd 1.18.0 -> target/opt/relay"
install -d target/opt/relay target/etc/relay
echo "deploy: writing target/etc/relay/relay.env"
printf 'RELAY_LISTEN=127.0.0.1:7400\nRELAY_WORKERS=4\n' > target/etc/relay/relay.env
echo "warning: target/etc/relay/relay.env replaces an older file"
install -m 755 bin/relayd target/opt/relay/relayd || exit 1
echo "deploy: done"
X
bash build.sh > "$OUT/03-history.txt" 2>&1
stage deploy bash deploy.sh
keep 04-config.env target/etc/relay/relay.env
exit 0
