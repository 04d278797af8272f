package contract

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// ErrChain is wrapped by every refusal of VerifyChain.
var ErrChain = errors.New("receipt chain broken")

// Chain appends receipts of one trace, each linked to the one before it. It is
// not safe for concurrent use; its owner locks.
type Chain struct {
	trace string
	links []Receipt
}

// NewChain starts an empty chain.
func NewChain(traceID string) *Chain { return &Chain{trace: traceID} }

// Append adds a receipt and returns it; body must not be changed afterwards.
func (c *Chain) Append(kind string, body map[string]string) Receipt {
	r := Receipt{Seq: len(c.links), TraceID: c.trace, Kind: kind, Body: body}
	if r.Body == nil {
		r.Body = map[string]string{}
	}
	if len(c.links) > 0 {
		r.Prev = c.links[len(c.links)-1].Hash
	}
	r.Hash = r.sum()
	c.links = append(c.links, r)
	return r
}

// Receipts returns a copy of the chain.
func (c *Chain) Receipts() []Receipt { return slices.Clone(c.links) }

// sum hashes the canonical form of the receipt without its Hash, which is
// written here by hand because every request has several: a test holds it to
// Canonical.
func (r Receipt) sum() string {
	buf := buffers.Get().(*[]byte)
	b := append((*buf)[:0], `{"body":`...)
	b = appendTexts(b, r.Body)
	b = append(b, `,"kind":`...)
	b = appendString(b, r.Kind)
	b = append(b, `,"prev":`...)
	b = appendString(b, r.Prev)
	b = append(b, `,"seq":`...)
	b = strconv.AppendInt(b, int64(r.Seq), 10)
	b = append(b, `,"trace_id":`...)
	b = append(appendString(b, r.TraceID), '}')
	defer giveBack(buf, b)
	return Sum(b)
}

// VerifyChain recomputes every link: sequence, trace, predecessor and hash.
// An empty chain is broken: every request leaves a receipt.
func VerifyChain(rs []Receipt) error {
	if len(rs) == 0 {
		return fmt.Errorf("%w: no receipt", ErrChain)
	}
	prev := ""
	for i, r := range rs {
		switch {
		case r.Seq != i:
			return fmt.Errorf("%w: receipt %d has seq %d", ErrChain, i, r.Seq)
		case r.TraceID != rs[0].TraceID:
			return fmt.Errorf("%w: receipt %d is of trace %q, not %q", ErrChain, i, r.TraceID, rs[0].TraceID)
		case r.Prev != prev:
			return fmt.Errorf("%w: receipt %d does not follow the one before it", ErrChain, i)
		case r.Hash != r.sum():
			return fmt.Errorf("%w: receipt %d was changed", ErrChain, i)
		}
		prev = r.Hash
	}
	return nil
}
