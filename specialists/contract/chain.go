package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
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

// Append adds a receipt and returns it.
func (c *Chain) Append(kind string, body map[string]string) (Receipt, error) {
	r := Receipt{Seq: len(c.links), TraceID: c.trace, Kind: kind, Body: maps.Clone(body)}
	if r.Body == nil {
		r.Body = map[string]string{}
	}
	if len(c.links) > 0 {
		r.Prev = c.links[len(c.links)-1].Hash
	}
	sum, err := r.sum()
	if err != nil {
		return Receipt{}, fmt.Errorf("append receipt %s: %w", kind, err)
	}
	r.Hash = sum
	c.links = append(c.links, r)
	return r, nil
}

// Receipts returns a copy of the chain.
func (c *Chain) Receipts() []Receipt { return slices.Clone(c.links) }

// sum hashes the canonical form of the receipt without its Hash.
func (r Receipt) sum() (string, error) {
	raw, err := json.Marshal(struct {
		Body    map[string]string `json:"body"`
		Kind    string            `json:"kind"`
		Prev    string            `json:"prev"`
		Seq     int               `json:"seq"`
		TraceID string            `json:"trace_id"`
	}{r.Body, r.Kind, r.Prev, r.Seq, r.TraceID})
	if err != nil {
		return "", err
	}
	return sumCanonical(raw)
}

// VerifyChain recomputes every link: sequence, trace, predecessor and hash.
// An empty chain is broken: every request leaves a receipt.
func VerifyChain(rs []Receipt) error {
	if len(rs) == 0 {
		return fmt.Errorf("%w: no receipt", ErrChain)
	}
	prev := ""
	for i, r := range rs {
		sum, err := r.sum()
		switch {
		case err != nil:
			return fmt.Errorf("%w: receipt %d: %v", ErrChain, i, err)
		case r.Seq != i:
			return fmt.Errorf("%w: receipt %d has seq %d", ErrChain, i, r.Seq)
		case r.TraceID != rs[0].TraceID:
			return fmt.Errorf("%w: receipt %d is of trace %q, not %q", ErrChain, i, r.TraceID, rs[0].TraceID)
		case r.Prev != prev:
			return fmt.Errorf("%w: receipt %d does not follow the one before it", ErrChain, i)
		case r.Hash != sum:
			return fmt.Errorf("%w: receipt %d was changed", ErrChain, i)
		}
		prev = r.Hash
	}
	return nil
}
