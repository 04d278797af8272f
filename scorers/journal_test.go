package scorers

import (
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/fabriccore/assay/runner/journal"
	"github.com/google/go-cmp/cmp"
)

func stream(ms []journal.Message) func() (iter.Seq2[journal.Message, error], error) {
	return func() (iter.Seq2[journal.Message, error], error) {
		return func(yield func(journal.Message, error) bool) {
			for _, m := range ms {
				if !yield(m, nil) {
					return
				}
			}
		}, nil
	}
}

// Scoring a journal is scoring its parts.
func TestFromJournal(t *testing.T) {
	f := newFake(6)
	want := f.score(t)
	full := f.input()
	ms := []journal.Message{{Run: &f.run}}
	for i := range f.routes {
		ms = append(ms, journal.Message{Route: &f.routes[i]})
	}
	for i := range f.trials {
		ms = append(ms, journal.Message{Trial: &f.trials[i]})
	}
	ms = append(ms, journal.Message{Note: &journal.Note{Level: "info"}}, journal.Message{End: full.End})
	in, err := FromJournal(stream(ms))
	if err != nil {
		t.Fatal(err)
	}
	in.Labels, in.Taxonomy, in.Spec, in.Policy, in.VerifyChain, in.Case = full.Labels, full.Taxonomy, full.Spec, full.Policy, full.VerifyChain, full.Case
	got, err := Score(in)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(asJSON(t, want), asJSON(t, got)); d != "" {
		t.Error(d)
	}
	if _, err := FromJournal(stream(ms[1:])); !errors.Is(err, ErrNoRun) {
		t.Errorf("no run: %v", err)
	}
	if _, err := FromJournal(stream(append(ms[:1:1], ms...))); !errors.Is(err, ErrNoRun) {
		t.Errorf("two runs: %v", err)
	}
}

// Design §9: 100,000 outcomes with bootstrap in less than 5 s.
func TestScoreManyOutcomes(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand outcomes")
	}
	f := newFake(8334)
	in := f.input()
	start := time.Now()
	r, err := Score(in)
	took := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d outcomes in %v", len(f.trials), took)
	if r.CasesCut != 3*8334-500 {
		t.Errorf("%d rows cut", r.CasesCut)
	}
}

func BenchmarkScore(b *testing.B) {
	f := newFake(8334)
	b.ReportAllocs()
	for b.Loop() {
		f.score(b)
	}
	b.ReportMetric(float64(len(f.trials)), "outcomes")
}
