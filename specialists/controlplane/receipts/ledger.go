// Package receipts stands in for weave_receipts and the run view of
// control_store (F-014): what one request left behind - its hash-chained
// receipts, its trace and its model calls. It refuses to judge them. A sealed
// book takes nothing more, so that work which outlives its request leaves no
// trace in it.
package receipts

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
)

// ErrSealed refuses a receipt of a request that has ended.
var ErrSealed = errors.New("the request has ended")

// Ledger opens one book per request.
type Ledger struct {
	// Now is the clock of trace events.
	Now func() time.Time
	// Fault, if set, is asked before each receipt and makes it fail; tests
	// use it.
	Fault func(kind string) error
	// Sink, if set, gets every receipt as it is written.
	Sink func(contract.Receipt) error

	late atomic.Int64
}

// Late counts what arrived for requests that had ended.
func (l *Ledger) Late() int { return int(l.late.Load()) }

// Book is the record of one request. It is safe for concurrent use.
type Book struct {
	ledger *Ledger
	start  time.Time

	mu     sync.Mutex
	sealed bool
	chain  *contract.Chain
	trace  []contract.TraceEvent
	calls  []contract.CallRecord
	suff   *contract.DeterministicSufficiency
	digest *contract.ContextPolicyDigest
}

// Open starts the record of a request.
func (l *Ledger) Open(traceID string) *Book {
	return &Book{
		ledger: l, start: l.Now(), chain: contract.NewChain(traceID),
		trace: make([]contract.TraceEvent, 0, 16),
	}
}

// open locks the book and reports whether it still takes entries.
func (b *Book) open() bool {
	b.mu.Lock()
	if b.sealed {
		b.mu.Unlock()
		b.ledger.late.Add(1)
		return false
	}
	return true
}

// Step records a trace event; detail must not be changed afterwards.
func (b *Book) Step(step string, detail map[string]string) {
	at := b.ledger.Now().Sub(b.start)
	if b.open() {
		b.trace = append(b.trace, contract.TraceEvent{Step: step, At: at, Detail: detail})
		b.mu.Unlock()
	}
}

// Call records a model call and its trace event.
func (b *Book) Call(c contract.CallRecord) {
	at := b.ledger.Now().Sub(b.start)
	if b.open() {
		b.calls = append(b.calls, c)
		b.trace = append(b.trace, contract.TraceEvent{Step: contract.StepModelCall, At: at, Call: &c})
		b.mu.Unlock()
	}
}

// Sufficiency keeps the verdict of the request.
func (b *Book) Sufficiency(s contract.DeterministicSufficiency) {
	if b.open() {
		b.suff = &s
		b.mu.Unlock()
	}
}

// Digest keeps the signed identity of the request.
func (b *Book) Digest(d contract.ContextPolicyDigest) {
	if b.open() {
		b.digest = &d
		b.mu.Unlock()
	}
}

// Receipt appends to the request's chain.
func (b *Book) Receipt(kind string, body map[string]string) error {
	if f := b.ledger.Fault; f != nil {
		if err := f(kind); err != nil {
			return fmt.Errorf("write receipt %s: %w", kind, err)
		}
	}
	if !b.open() {
		return fmt.Errorf("write receipt %s: %w", kind, ErrSealed)
	}
	defer b.mu.Unlock()
	r := b.chain.Append(kind, body)
	if s := b.ledger.Sink; s != nil {
		if err := s(r); err != nil {
			return fmt.Errorf("write receipt %s: %w", kind, err)
		}
	}
	return nil
}

// Calls returns the model calls so far.
func (b *Book) Calls() []contract.CallRecord {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

// Seal ends the book and returns what it holds. Later calls return the same.
func (b *Book) Seal() contract.Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sealed = true
	return contract.Record{
		Trace: slices.Clip(b.trace), Receipts: b.chain.Receipts(), Calls: slices.Clip(b.calls),
		Sufficiency: b.suff, Digest: b.digest,
	}
}
