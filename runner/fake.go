package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists/contract"
)

// Fake is a target for tests: it answers after Latency and counts.
type Fake struct {
	Latency time.Duration
	Route   journal.Route
	// Reply makes the answer; nil answers with the class "a".
	Reply func(ctx context.Context, c corpus.Case, repeat int) Answer
	// WarmErr and RouteErr fail Warm and Fingerprint; Drift changes the route
	// at its second reading.
	WarmErr, RouteErr error
	Drift             bool

	mu       sync.Mutex
	asked    int
	inFlight int
	peak     int
	read     int
}

// Warm implements Target.
func (f *Fake) Warm(ctx context.Context) ([]contract.CallRecord, error) {
	if f.WarmErr != nil {
		return nil, f.WarmErr
	}
	return []contract.CallRecord{{Kind: contract.CallGenerate, Cold: true}}, ctx.Err()
}

// Fingerprint implements Target.
func (f *Fake) Fingerprint(context.Context) (journal.Route, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read++
	r := f.Route
	if f.Drift && f.read > 1 {
		r.ServerVersion += "-other"
	}
	return r, f.RouteErr
}

// Ask implements Target.
func (f *Fake) Ask(ctx context.Context, c corpus.Case, repeat int) Answer {
	f.mu.Lock()
	f.asked++
	f.inFlight++
	f.peak = max(f.peak, f.inFlight)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.inFlight--
		f.mu.Unlock()
	}()
	if f.Latency > 0 {
		select {
		case <-time.After(f.Latency):
		case <-ctx.Done():
			return Answer{Trial: journal.Trial{Kind: journal.ModelError, Error: ctx.Err().Error(), Timing: journal.Timing{Censored: true}}}
		}
	}
	if f.Reply != nil {
		return f.Reply(ctx, c, repeat)
	}
	body := fmt.Appendf(nil, `{"case":%q,"class":"a"}`, c.ID)
	return Answer{
		Trial:   journal.Trial{Kind: journal.Answered, Class: "a", Ranked: []string{"a"}},
		Request: []byte(c.ID), Response: body,
		Calls: []contract.CallRecord{{Kind: contract.CallGenerate, Request: body, Response: body}},
	}
}

// Asked is how many cases were put to the target.
func (f *Fake) Asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// Peak is how many cases were with the target at one moment, at most.
func (f *Fake) Peak() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.peak
}
