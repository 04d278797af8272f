#!/usr/bin/env bash
set -u
. "$LIB"

export GOCACHE="${GOCACHE:-/tmp/recipe-go-cache}" GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOSUMDB=off
STAGE_TIMEOUT=200

printf 'module example.com/ledger\n\ngo 1.22\n' > go.mod
cat > sum.go <<'X'
package ledger

// Total adds the amounts of all entries, in cents.
func Total(es []Entry) int64 {
	var t int64
	for _, e := range es {
		t += normalise(e.Amount, e.Sign)
	}
	return t
}
X
cat > entry.go <<'X'
package ledger

// Entry is one line of a ledger.
type Entry struct {
	Amount int64
	Sign   int8
}

func normalize(a int64, s int8) int64 { return a * int64(s) }
X
stage build go build ./...
keep 03-config.txt go.mod
exit 0
