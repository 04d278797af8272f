// Package ratelimit stands in for the existing rate-limit middleware (F-022):
// one token bucket per key. It refuses to know what the key means.
package ratelimit

import (
	"math"
	"sync"
	"time"
)

// Limit is a steady rate with a burst. The zero Limit limits nothing.
type Limit struct {
	PerSecond float64
	Burst     int
}

// most bounds the buckets that are kept; beyond it the full ones are dropped.
const most = 4096

// Limiter is safe for concurrent use.
type Limiter struct {
	limit Limit
	now   func() time.Time
	mu    sync.Mutex
	by    map[string]bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

// New returns a limiter on the clock.
func New(l Limit, now func() time.Time) *Limiter {
	return &Limiter{limit: l, now: now, by: map[string]bucket{}}
}

// Allow takes one token of the key's bucket and reports whether there was one.
func (l *Limiter) Allow(key string) bool {
	if l.limit == (Limit{}) {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b, ok := l.by[key]
	if !ok {
		l.sweep(now)
		b = bucket{tokens: float64(l.limit.Burst), at: now}
	}
	b.tokens = l.refilled(b, now)
	b.at = now
	allowed := b.tokens >= 1
	if allowed {
		b.tokens--
	}
	l.by[key] = b
	return allowed
}

func (l *Limiter) refilled(b bucket, now time.Time) float64 {
	passed := max(0, now.Sub(b.at).Seconds())
	return math.Min(float64(l.limit.Burst), b.tokens+passed*l.limit.PerSecond)
}

func (l *Limiter) sweep(now time.Time) {
	if len(l.by) < most {
		return
	}
	for k, b := range l.by {
		if l.refilled(b, now) >= float64(l.limit.Burst) {
			delete(l.by, k)
		}
	}
}
