#!/usr/bin/env bash
set -u
. "$LIB"

export GOCACHE="${GOCACHE:-/tmp/recipe-go-cache}" GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOSUMDB=off
STAGE_TIMEOUT=200

printf 'module example.com/fleet\n\ngo 1.22\n' > go.mod
for p in agent api audit billing cache clock config events inbox journal; do
  mkdir -p internal/$p
  cat > internal/$p/$p.go <<X
package $p

// Step returns the next step number.
func Step(n int) int { return n + 1 }
X
  cat > internal/$p/${p}_test.go <<X
package $p

import (
	"fmt"
	"testing"
)

func TestSteps(t *testing.T) {
	for i := 0; i < 6; i++ {
		t.Run(fmt.Sprintf("step_%02d", i), func(t *testing.T) {
			t.Logf("attempt %d: peer 127.0.0.1:70%02d answered 503, backing off %d ms", i, i, 50<<i)
			if Step(i) != i+1 {
				t.Fatal("wrong step")
			}
		})
	}
}
X
done
cat > internal/agent/lease.go <<'X'
package agent

type holder struct{ id string }

func (h *holder) Renew() bool { return h.id != "" }

func keep(h *holder) bool { return h.Extend() }
X
stage test go test -v -count=1 ./...
exit 0
