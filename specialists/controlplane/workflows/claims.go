// Package workflows stands in for weave_workflows (F-012): it owns
// idempotency - claiming an operation and executing it once. It refuses to
// know what the operation does.
package workflows

import (
	"errors"
	"sync"
	"time"
)

// ErrClaimed says that the operation is under way or was done in the window.
var ErrClaimed = errors.New("operation already claimed")

// Claims holds operations by idempotency key. It is safe for concurrent use.
type Claims struct {
	now    func() time.Time
	window time.Duration
	mu     sync.Mutex
	held   map[string]time.Time // zero = under way, else when it ended
	order  []string             // ended keys, oldest first
}

// NewClaims returns claims that stay after an operation's end for the window;
// with 0 only operations under way are claimed.
func NewClaims(window time.Duration, now func() time.Time) *Claims {
	return &Claims{now: now, window: window, held: map[string]time.Time{}}
}

// Claim takes the key. The release must be called once the operation ended.
func (c *Claims) Claim(key string) (release func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.expire(now)
	if _, taken := c.held[key]; taken {
		return nil, false
	}
	c.held[key] = time.Time{}
	return sync.OnceFunc(func() { c.end(key) }), true
}

func (c *Claims) end(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.window <= 0 {
		delete(c.held, key)
		return
	}
	c.held[key] = c.now()
	c.order = append(c.order, key)
}

func (c *Claims) expire(now time.Time) {
	for len(c.order) > 0 {
		k := c.order[0]
		if now.Sub(c.held[k]) < c.window {
			return
		}
		delete(c.held, k)
		c.order = c.order[1:]
	}
}

// ExecuteOnce runs fn under the claim of key.
func (c *Claims) ExecuteOnce(key string, fn func() error) error {
	release, ok := c.Claim(key)
	if !ok {
		return ErrClaimed
	}
	defer release()
	return fn()
}
