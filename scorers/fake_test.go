package scorers

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists/contract"
)

// fakeRun makes a complete run: 60 cases in 20 families of three. In each
// family the first case is settled by rules, the others need a specialist.
// The rules abstain on what they can't settle, the candidate is right on
// every case but one a third of the families, the bare call on half.
type fakeRun struct {
	run    journal.Run
	trials []journal.Trial
	labels map[string]label.Label
	routes []journal.Route
	notes  []journal.Note
	noEnd  bool
	spec   Spec
	policy Policy
}

const (
	fakeCore    = "core:m"
	fakeBare    = "bare:m"
	fakeRules   = "deterministic"
	fakeControl = "control:guess"
)

var fakeClasses = []string{"code", "config", "network", contract.InsufficientEvidence}

func fakeTaxonomy() contract.Taxonomy {
	t := contract.Taxonomy{Name: "t", Version: 1}
	for _, c := range fakeClasses {
		t.Classes = append(t.Classes, contract.Class{ID: c})
	}
	return t
}

var fakeStart = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

func newFake(families int) *fakeRun {
	f := &fakeRun{labels: map[string]label.Label{}, policy: closedPolicy(), spec: Spec{
		Candidate: fakeCore, LatencyReference: fakeBare, ModelFree: []string{fakeRules}, Control: fakeControl,
		Guess: "code", Seed: 7, Effect: 0.15,
		Arms: []SpecArm{{fakeRules, "deterministic", ""}, {fakeBare, "bare", "m"}, {fakeCore, "core", "m"}, {fakeControl, "control", ""}},
	}}
	for fam := range families {
		for k := range 3 {
			id := fmt.Sprintf("c%03d-%d", fam, k)
			class := fakeClasses[(fam+k)%3]
			easy := k == 0
			l := label.Label{Case: id, Class: class, Evidence: []string{"e1"}, Source: label.SourceConstructed, Difficulty: "hard", Cause: "x", Toolchain: "go"}
			if easy {
				l.Difficulty = "easy"
			}
			f.labels[id] = l
			wrong := fakeClasses[(fam+k+1)%3]
			pick := func(right bool) string {
				if right {
					return class
				}
				return wrong
			}
			family := fmt.Sprintf("f%03d", fam)
			f.add(fakeRules, id, family, pick(true), easy, easy, 0)
			f.add(fakeBare, id, family, pick((fam+k)%2 == 0), easy, true, 400*time.Millisecond)
			f.add(fakeCore, id, family, pick(k < 2 || fam%3 != 0), easy, true, time.Duration(500+fam)*time.Millisecond)
			control := "code"
			if easy {
				control = class
			}
			f.add(fakeControl, id, family, control, easy, true, 500*time.Millisecond)
		}
	}
	for _, arm := range []string{fakeBare, fakeCore, fakeControl} {
		for _, when := range []string{"before", "after"} {
			f.routes = append(f.routes, journal.Route{When: when, Arm: arm, Name: "m", ServerVersion: "1",
				Profiles: []journal.ProfileModel{{Profile: contract.ProfileBalancedReason, Tag: "m", Digest: "sha256:1"}}})
		}
	}
	f.run = journal.Run{ID: "r", Planned: len(f.trials), ManifestSHA256: "m"}
	return f
}

func (f *fakeRun) add(arm, id, family, class string, easy, answers bool, total time.Duration) {
	t := journal.Trial{Key: arm + "/" + id, Case: id, Family: family, Corpus: "fake", Arm: arm, Ordinal: len(f.trials),
		Started: fakeStart.Add(time.Duration(len(f.trials)) * time.Second), Kind: journal.Answered, Class: class, Ranked: []string{class}, Evidence: []string{"e1"}}
	if !answers {
		t.Kind, t.Class, t.Ranked, t.Evidence = journal.Abstained, "", nil, nil
	}
	stack := arm == fakeCore || arm == fakeControl
	t.Timing.Total = max(total, time.Millisecond)
	if arm != fakeRules && (!stack || !easy) {
		t.Calls = []contract.CallRecord{{Profile: contract.ProfileBalancedReason, Timing: contract.CallTiming{Total: total - 10*time.Millisecond, Prefill: 100 * time.Millisecond, Decode: 200 * time.Millisecond}}}
		t.Timing.Model = total - 10*time.Millisecond
	}
	t.Timing.Overhead = t.Timing.Total - t.Timing.Model
	if stack {
		t.Sufficiency = contract.SufficiencySpecialistRequired
		t.Trace = []contract.TraceEvent{{Step: contract.StepIdentity}, {Step: contract.StepSufficiency}, {Step: contract.StepModelCall}}
		if easy {
			t.Sufficiency = contract.SufficiencyResolved
			t.Trace = t.Trace[:2]
		}
		t.Receipts = []contract.Receipt{{Seq: 1, Kind: "request", Hash: "a"}, {Seq: 2, Kind: "response", Prev: "a", Hash: "b"}}
		t.Safety = &contract.SafetyCounters{}
	}
	f.trials = append(f.trials, t)
}

// closedPolicy is a policy under which nothing is open, so that tests can
// reach qualified.
func closedPolicy() Policy {
	p := Phase1()
	p.Open = map[string]string{}
	p.SelfTests = map[string]string{}
	for _, c := range counterNames {
		p.SelfTests[c] = "raised"
	}
	p.Bound = nil
	for _, id := range requiredBound {
		p.Bound = append(p.Bound, Bound{ID: id, Requires: id, Gates: []string{"G1.sufficiency"}})
	}
	return p
}

// fakeChain is a chain check on the fake receipts.
func fakeChain(rs []contract.Receipt) error {
	prev := ""
	for _, r := range rs {
		if r.Prev != prev {
			return errors.New("broken chain")
		}
		prev = r.Hash
	}
	return nil
}

func (f *fakeRun) input() Input {
	in := Input{Run: f.run, Trials: Trials(f.trials), Routes: f.routes, Notes: f.notes, Labels: f.labels, Taxonomy: fakeTaxonomy(),
		Spec: f.spec, Policy: f.policy, VerifyChain: fakeChain,
		Case: func(id string) (corpus.Case, bool) {
			return corpus.Case{ID: id, Evidence: []contract.EvidenceItem{{ID: "e1", Text: "log of " + id}}}, true
		}}
	if !f.noEnd {
		in.End = &journal.End{Planned: f.run.Planned, Counts: map[journal.Kind]int{}, LinesSHA256: "l"}
		for _, t := range f.trials {
			in.End.Counts[t.Kind]++
		}
	}
	return in
}

func (f *fakeRun) score(t testing.TB) Result {
	t.Helper()
	r, err := Score(f.input())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// of returns the trials of an arm, to be changed.
func (f *fakeRun) of(arm string) []*journal.Trial {
	var ts []*journal.Trial
	for i := range f.trials {
		if f.trials[i].Arm == arm {
			ts = append(ts, &f.trials[i])
		}
	}
	return ts
}

func gate(t testing.TB, r Result, id string) Gate {
	t.Helper()
	for _, g := range r.Gates {
		if g.ID == id {
			return g
		}
	}
	t.Fatalf("no gate %s", id)
	return Gate{}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
