#!/usr/bin/env bash
set -u
. "$LIB"

export GOCACHE="${GOCACHE:-/tmp/recipe-go-cache}" GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOSUMDB=off
STAGE_TIMEOUT=200

printf 'module example.com/bank\n\ngo 1.22\n' > go.mod
cat > bank.go <<'X'
package bank

import (
	"sync"
	"time"
)

// Account holds a balance in cents.
type Account struct {
	mu  sync.Mutex
	bal int
}

// Move transfers n cents.
func Move(from, to *Account, n int) {
	from.mu.Lock()
	defer from.mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	to.mu.Lock()
	defer to.mu.Unlock()
	from.bal -= n
	to.bal += n
}
X
cat > bank_test.go <<'X'
package bank

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

func TestTransfers(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }))
	defer srv.Close()
	for i := 0; i < 3; i++ {
		r, err := http.Get(srv.URL + "/rates")
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
		log.Printf("rates: attempt %d: answered 200 with an empty body, retrying", i+1)
	}
	a, b := &Account{bal: 500}, &Account{bal: 500}
	var wg sync.WaitGroup
	for i := 0; i < 3; i++ {
		wg.Add(2)
		go func() { defer wg.Done(); Move(a, b, 10) }()
		go func() { defer wg.Done(); Move(b, a, 20) }()
	}
	wg.Wait()
}
X
cp bank.go "$OUT/03-source.go"
stage test go test -count=1 -timeout 6s ./...
show 04-environment.txt go version
exit 0
