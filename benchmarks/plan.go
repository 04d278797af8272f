package benchmarks

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"math/bits"
	"slices"
	"strconv"

	"github.com/fabriccore/assay/corpus"
)

// Selection narrows a plan; a narrowed run is exploratory.
type Selection struct {
	Limit int      `json:"limit,omitempty"` // the first n cases of the seeded order; 0 = all
	Cases []string `json:"cases,omitempty"` // ids; empty = all
}

// Plan is every trial of a run, in order. The arms of one case are adjacent,
// their order is counterbalanced over cases and passes, and repeats come in
// later passes. It holds no trial, so its size is that of the case
// list.
type Plan struct {
	Suite     Suite
	Selection Selection
	Arms      []Arm
	Corpora   []*corpus.Corpus
	// Digest is "sha256:<hex>" over suite settings, arms, corpora and the keys
	// of all trials in order.
	Digest string

	order []place
}

// place is a case in its corpus.
type place struct{ corpus, index int32 }

// Trial is one planned question.
type Trial struct {
	Ordinal    int
	Repeat     int
	Arm        int // index in Plan.Arms
	Corpus     *corpus.Corpus
	Case       *corpus.Case
	CaseDigest string
	Key        string
}

// Key is the hex SHA-256 of case digest, arm digest and repeat; never of a
// place in a list.
func Key(caseDigest, armDigest string, repeat int) string {
	sum := sha256.Sum256([]byte(caseDigest + "\x00" + armDigest + "\x00" + strconv.Itoa(repeat)))
	return hex.EncodeToString(sum[:])
}

// NewPlan orders the trials. Errors wrap ErrSuite.
func NewPlan(s Suite, arms []Arm, corpora []*corpus.Corpus, sel Selection) (*Plan, error) {
	p := &Plan{Suite: s, Selection: sel, Arms: arms, Corpora: corpora}
	if err := p.orderCases(); err != nil {
		return nil, err
	}
	if len(p.order) == 0 || len(arms) == 0 {
		return nil, fmt.Errorf("%w: the plan has no trial: %d cases, %d arms", ErrSuite, len(p.order), len(arms))
	}
	return p, p.seal()
}

// orderCases sorts the cases by a hash of seed and case digest: a shuffle
// that no library can change.
func (p *Plan) orderCases() error {
	type entry struct {
		sum [sha256.Size]byte
		at  place
	}
	var seed [8]byte
	binary.BigEndian.PutUint64(seed[:], uint64(p.Suite.Seed))
	var all []entry
	wanted := map[string]bool{}
	for _, id := range p.Selection.Cases {
		wanted[id] = false
	}
	in := map[string]string{} // case id → its corpus
	for ci, c := range p.Corpora {
		for i := range c.Cases {
			id := c.Cases[i].ID
			if first, ok := in[id]; ok {
				return fmt.Errorf("%w: case id %s stands in %s and in %s; labels are joined by it, so it must be one case", ErrSuite, id, first, c.Meta.Name)
			}
			in[id] = c.Meta.Name
			if _, ok := wanted[id]; len(wanted) > 0 && !ok {
				continue
			} else if ok {
				wanted[id] = true
			}
			d := c.CaseDigest[id]
			if d == "" {
				return fmt.Errorf("%w: case %s of corpus %s has no digest", ErrSuite, id, c.Meta.Name)
			}
			all = append(all, entry{sha256.Sum256(append(seed[:], d...)), place{int32(ci), int32(i)}})
		}
	}
	for _, id := range p.Selection.Cases {
		if !wanted[id] {
			return fmt.Errorf("%w: no case %s in this suite's corpora; 'assay corpus show' lists them", ErrSuite, id)
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return bytes.Compare(a.sum[:], b.sum[:]) })
	for i := 1; i < len(all); i++ {
		if all[i].sum == all[i-1].sum {
			return fmt.Errorf("%w: cases %s and %s are the same bytes; keep one", ErrSuite, p.id(all[i-1].at), p.id(all[i].at))
		}
	}
	if n := p.Selection.Limit; n > 0 && n < len(all) {
		all = all[:n]
	}
	p.order = make([]place, len(all))
	for i, e := range all {
		p.order[i] = e.at
	}
	return nil
}

func (p *Plan) id(at place) string { return p.Corpora[at.corpus].Cases[at.index].ID }

// Cases is the number of cases asked.
func (p *Plan) Cases() int { return len(p.order) }

// Families is the number of families among the cases asked.
func (p *Plan) Families() int {
	seen := map[[2]string]bool{}
	for _, at := range p.order {
		c := p.Corpora[at.corpus]
		seen[[2]string{c.Meta.Name, c.Cases[at.index].Family}] = true
	}
	return len(seen)
}

// Len is the number of trials: cases × arms × repeats.
func (p *Plan) Len() int { return len(p.order) * len(p.Arms) * p.Suite.Repeats }

// Trial returns the trial with that ordinal, 0 ≤ ordinal < Len.
func (p *Plan) Trial(ordinal int) Trial {
	k := len(p.Arms)
	pass, in := ordinal/(len(p.order)*k), ordinal%(len(p.order)*k)
	at := p.order[in/k]
	c := p.Corpora[at.corpus]
	cs := &c.Cases[at.index]
	t := Trial{
		Ordinal: ordinal, Repeat: pass, Arm: armAt(in/k, in%k, k, pass),
		Corpus: c, Case: cs, CaseDigest: c.CaseDigest[cs.ID],
	}
	t.Key = Key(t.CaseDigest, p.Arms[t.Arm].Digest, pass)
	return t
}

// armAt says which of k arms comes at place slot for the n-th case: a Latin
// rotation inside each block of k cases, blocks reversed by the Thue–Morse
// sequence, everything reversed in every other pass. For two arms that is
// AB BA BA AB BA AB AB BA ….
func armAt(n, slot, k, pass int) int {
	block, shift := n/k, n%k
	if (bits.OnesCount(uint(block))+pass)%2 == 1 {
		slot = k - 1 - slot
	}
	return (slot + shift) % k
}

// seal computes the plan's digest.
func (p *Plan) seal() error {
	h := sha256.New()
	head := struct {
		Seed, Repeats, InFlight int
		CallTimeout             int64
		Arms, Corpora           []string
	}{Seed: p.Suite.Seed, Repeats: p.Suite.Repeats, InFlight: p.Suite.InFlight, CallTimeout: int64(p.Suite.CallTimeout)}
	for _, a := range p.Arms {
		head.Arms = append(head.Arms, a.Name+" "+a.Digest)
	}
	for _, c := range p.Corpora {
		head.Corpora = append(head.Corpora, c.Meta.Name+" "+c.Digest)
	}
	if err := json.NewEncoder(h).Encode(head); err != nil {
		return fmt.Errorf("digest the plan: %w", err)
	}
	p.hashOrder(h)
	p.Digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	return nil
}

// hashOrder hashes the case digests in order; with arms and repeats they fix
// every key.
func (p *Plan) hashOrder(h hash.Hash) {
	for _, at := range p.order {
		c := p.Corpora[at.corpus]
		h.Write([]byte(c.CaseDigest[c.Cases[at.index].ID]))
		h.Write([]byte{'\n'})
	}
}
