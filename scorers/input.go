package scorers

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists/contract"
)

// Errors that keep a run from being scored at all; each is a frozen input
// that does not fit the journal.
var (
	ErrNoLabel      = errors.New("case has no label")
	ErrLabelRefused = errors.New("label refused")
	ErrSpec         = errors.New("suite can't be scored")
)

// Input is everything that scoring reads. The order of Trials, Routes and
// Notes has no influence on the result.
type Input struct {
	Run    journal.Run
	Trials iter.Seq2[journal.Trial, error]
	Routes []journal.Route // before and after, as the journal holds them
	Notes  []journal.Note
	End    *journal.End // nil = the run did not end
	// Resumes counts how often the run went on, Interrupted says why it last
	// stopped early; "" = it did not.
	Resumes     int
	Interrupted string
	// Labels maps case id to label. Every case with a trial needs one.
	Labels   map[string]label.Label
	Taxonomy contract.Taxonomy
	// Case finds a case's evidence for the case rows; nil = rows without it.
	Case func(id string) (corpus.Case, bool)
	Spec Spec
	// Policy is the gate policy; the zero value means [Phase1].
	Policy Policy
	// VerifyChain recomputes the hash chain of one trial's receipts; nil =
	// traceability is not measured.
	VerifyChain func([]contract.Receipt) error
}

// Spec is what scoring needs to know of the suite.
type Spec struct {
	Candidate        string   // the arm to be qualified, e.g. "core:smollm2"
	LatencyReference string   // the arm its times are divided by, e.g. "bare:smollm2"
	ModelFree        []string // arms of the accuracy baseline
	Control          string   // the negative control
	Guess            string   // the trivial guess that completes abstentions, a class
	Seed             uint64   // of every bootstrap and Monte Carlo test
	Alpha            float64  // one-sided, after spending; 0 = 0.05
	Effect           float64  // the declared effect in accuracy (0..1), for power
	// Power is the power printed before the run (0..1); 0 = the power at the
	// observed precision is used.
	Power float64
	Smoke bool // a smoke suite can't qualify
	Arms  []SpecArm
}

// SpecArm is one arm of the suite. Kind is "deterministic", "bare", "core" or
// "control"; empty = the part of Name before the colon.
//
// Generator names the model that words its answers, with its options; two arms
// have the same generator when it is equal.
type SpecArm struct {
	Name      string
	Kind      string
	Generator string
}

// kind is the arm's kind by the suite or, for arms it does not list, by name.
func (s Spec) kind(arm string) string {
	for _, a := range s.Arms {
		if a.Name == arm && a.Kind != "" {
			return a.Kind
		}
	}
	k, _, _ := strings.Cut(arm, ":")
	return k
}

// maxAlpha is the most that a gate may err, one-sided; spending only
// lowers it.
const maxAlpha = 0.05

// sameGenerator reports whether both arms are known to have one generator.
func (s Spec) sameGenerator(a, b string) bool {
	of := func(name string) string {
		for _, x := range s.Arms {
			if x.Name == name {
				return x.Generator
			}
		}
		return ""
	}
	return of(a) != "" && of(a) == of(b)
}

// stack reports whether the arm runs the governed stack.
func (s Spec) stack(arm string) bool {
	k := s.kind(arm)
	return k == "core" || k == "control"
}

// check refuses a suite that can't be scored.
func (s Spec) check(t contract.Taxonomy) error {
	if len(t.Classes) == 0 {
		return fmt.Errorf("%w: the taxonomy has no classes", ErrSpec)
	}
	if s.Guess != "" && !t.Has(s.Guess) {
		return fmt.Errorf("%w: guess %q is no class of taxonomy %s", ErrSpec, s.Guess, t.Name)
	}
	if !(s.Alpha >= 0 && s.Alpha <= maxAlpha) {
		return fmt.Errorf("%w: alpha %v is not in (0, %v]; bounds are 95 %% or stricter", ErrSpec, s.Alpha, maxAlpha)
	}
	return nil
}

// Trials makes a stream of a slice.
func Trials(ts []journal.Trial) iter.Seq2[journal.Trial, error] {
	return func(yield func(journal.Trial, error) bool) {
		for _, t := range ts {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// checkLabel refuses labels that no accuracy may rest on.
func checkLabel(l label.Label, t contract.Taxonomy) error {
	switch l.Source {
	case label.SourceHuman, label.SourceConstructed, label.SourceImported:
	default:
		return fmt.Errorf("%w: case %s: source %q", ErrLabelRefused, l.Case, l.Source)
	}
	for _, c := range append([]string{l.Class}, l.Acceptable...) {
		if !t.Has(c) {
			return fmt.Errorf("%w: case %s: class %q is not in taxonomy %s", ErrLabelRefused, l.Case, c, t.Name)
		}
	}
	return nil
}
