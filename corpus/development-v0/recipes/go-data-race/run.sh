#!/usr/bin/env bash
set -u
. "$LIB"

export GOCACHE="${GOCACHE:-/tmp/recipe-go-cache}" GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOSUMDB=off
STAGE_TIMEOUT=200

export CGO_ENABLED=1
printf 'module example.com/tally\n\ngo 1.22\n' > go.mod
cat > tally.go <<'X'
package tally

import (
	"log"
	"sync"
	"time"
)

// Tally counts deliveries per key.
type Tally struct {
	mu    sync.Mutex
	names []string
	total int
}

// Add records one delivery.
func (t *Tally) Add(name string) {
	t.total++
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names = append(t.names, name)
}

// Flush writes the names out and reports how many there were.
func (t *Tally) Flush() int {
	start := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	time.Sleep(12 * time.Millisecond)
	if d := time.Since(start); d > 10*time.Millisecond {
		log.Printf("WARN flush took %d ms, above the 10 ms budget; storage may be slow", d.Milliseconds())
	}
	return len(t.names)
}
X
cat > tally_test.go <<'X'
package tally

import (
	"fmt"
	"sync"
	"testing"
)

func TestEmpty(t *testing.T) {
	if (&Tally{}).Flush() != 0 {
		t.Fatal("not empty")
	}
}

func TestConcurrentAdd(t *testing.T) {
	var ta Tally
	var wg sync.WaitGroup
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := 0; j < 25; j++ {
				ta.Add(fmt.Sprint(i, j))
			}
		}()
	}
	wg.Wait()
	for k := 0; k < 12; k++ {
		if n := ta.Flush(); n != 100 {
			t.Fatalf("flushed %d of 100", n)
		}
	}
}

func TestFlushTwice(t *testing.T) {
	var ta Tally
	ta.Add("a")
	for k := 0; k < 9; k++ {
		ta.Flush()
	}
}
X
cp tally.go "$OUT/03-source.go"
stage test go test -race -count=1 -v ./...
keep 04-config.txt go.mod
exit 0
