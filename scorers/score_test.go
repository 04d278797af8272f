package scorers

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// F-155, Q-40: the hand-derived numbers of the fake run. 60 cases, a third
// settled by rules; the candidate misses one case in 7 of 20 families; the
// bare call is right on half.
func TestF155Accuracy(t *testing.T) {
	r := newFake(20).score(t)
	byArm := map[string]ArmScore{}
	for _, a := range r.Arms {
		byArm[a.Arm] = a
		sum := a.Unseen
		for _, n := range a.Counts {
			sum += n
		}
		if sum != a.Planned || a.Planned != 60 {
			t.Errorf("%s: planned %d, counted %d", a.Arm, a.Planned, sum)
		}
		total := 0
		for _, row := range a.Confusion.Counts {
			for _, n := range row {
				total += n
			}
		}
		if total != 60 {
			t.Errorf("%s: the confusion matrix holds %d cases", a.Arm, total)
		}
	}
	core, rules, bare := byArm[fakeCore], byArm[fakeRules], byArm[fakeBare]
	for _, c := range []struct {
		name string
		got  float64
		want float64
	}{
		{"core accuracy", core.Accuracy.Point, 53.0 / 60}, {"core subset", core.Subset.Point, 33.0 / 40},
		{"core easy", core.Easy.Point, 1}, {"core hard", core.Hard.Point, 33.0 / 40}, {"core resolved", float64(core.Resolved), 20},
		{"rules accuracy", rules.Accuracy.Point, 20.0 / 60}, {"rules coverage", rules.Coverage.Point, 20.0 / 60},
		{"rules selective", rules.Selective.Point, 1}, {"bare accuracy", bare.Accuracy.Point, 30.0 / 60},
		{"core evidence", core.Evidence.Point, 1},
	} {
		if d := c.got - c.want; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	if core.Accuracy.N != 60 || core.Accuracy.Clusters != 20 {
		t.Errorf("n = %d in %d families", core.Accuracy.N, core.Accuracy.Clusters)
	}
	if len(r.Cases) != 60 || r.Cases[0].Evidence[0].Text != "log of c000-0" || len(r.Cases[0].Answers) != 4 {
		t.Errorf("case rows: %+v", r.Cases[0])
	}
	if r.Labels["constructed"] != 60 {
		t.Errorf("labels by source: %v", r.Labels)
	}
}

// F-155: one trial against one label.
func TestF155Rules(t *testing.T) {
	lab := label.Label{Class: "code", Acceptable: []string{"config"}, Evidence: []string{"e2"}}
	none := label.Label{Class: contract.InsufficientEvidence}
	for _, c := range []struct {
		name                  string
		t                     journal.Trial
		l                     label.Label
		right, top, ans, miss bool
	}{
		{"right", journal.Trial{Kind: journal.Answered, Class: "code"}, lab, true, true, true, false},
		{"acceptable", journal.Trial{Kind: journal.Answered, Class: "config"}, lab, true, true, true, false},
		{"wrong", journal.Trial{Kind: journal.Answered, Class: "network"}, lab, false, false, true, false},
		{"third hypothesis", journal.Trial{Kind: journal.Answered, Class: "a", Ranked: []string{"a", "b", "code"}}, lab, false, true, true, false},
		{"fourth hypothesis", journal.Trial{Kind: journal.Answered, Class: "a", Ranked: []string{"a", "b", "c", "code"}}, lab, false, false, true, false},
		{"no class", journal.Trial{Kind: journal.Answered}, lab, false, false, false, false},
		{"abstained", journal.Trial{Kind: journal.Abstained}, lab, false, false, false, false},
		{"abstains by class", journal.Trial{Kind: journal.Answered, Class: contract.InsufficientEvidence}, lab, false, false, false, false},
		{"insufficient, says so", journal.Trial{Kind: journal.Answered, Class: contract.InsufficientEvidence}, none, true, true, true, false},
		{"insufficient, abstains", journal.Trial{Kind: journal.Abstained}, none, true, true, true, false},
		{"insufficient, answers", journal.Trial{Kind: journal.Answered, Class: "code"}, none, false, false, true, false},
		{"refused with a class", journal.Trial{Kind: journal.Refused, Class: "code", Ranked: []string{"code"}}, lab, false, false, false, false},
		{"model error with a class", journal.Trial{Kind: journal.ModelError, Class: "code"}, lab, false, false, false, false},
		{"infrastructure", journal.Trial{Kind: journal.InfraError, Class: "code"}, lab, false, false, false, true},
		{"skipped", journal.Trial{Kind: journal.Skipped}, lab, false, false, false, true},
	} {
		r := read(c.t, c.l)
		if r.right != c.right || r.top != c.top || r.answered != c.ans || r.missing != c.miss {
			t.Errorf("%s: right %v top %v answered %v missing %v", c.name, r.right, r.top, r.answered, r.missing)
		}
	}
}

// Design §3: repeats reduce by strict majority, a tie is wrong, and repeats
// without an outcome decide only when they can't change the answer.
func TestReduce(t *testing.T) {
	for in, want := range map[string]state{
		"r": right, "w": wrong, "i": missing, "": missing, "rw": wrong, "rr": right, "rwr": right, "rww": wrong,
		"ri": missing, "wi": wrong, "rri": right, "rwi": missing, "wwi": wrong, "rii": missing, "rrww": wrong, "rrri": right,
	} {
		var rs []reading
		for _, c := range in {
			rs = append(rs, reading{right: c == 'r', missing: c == 'i'})
		}
		if got := reduce(rs, len(rs), isRight); got != want {
			t.Errorf("%q = %d, want %d", in, got, want)
		}
	}
	if got := reduce([]reading{{right: true}}, 3, isRight); got != missing {
		t.Errorf("one of three repeats seen: %d", got)
	}
}

// F-156, Q-42: everything that is built holds and the unbuilt rows cap the
// verdict at inconclusive; no policy lifts that.
func TestF156OpenRowsCap(t *testing.T) {
	r := newFake(20).score(t)
	if r.Verdict != Inconclusive || r.Infrastructure {
		t.Fatalf("verdict %s (infrastructure %v): %v", r.Verdict, r.Infrastructure, r.Reasons)
	}
	if len(r.Reasons) != 3 {
		t.Errorf("reasons: %v", r.Reasons)
	}
	for _, d := range r.Dimensions {
		want := Qualified
		if d.Name == dimPosture {
			want = Inconclusive
		}
		if d.Verdict != want {
			t.Errorf("%s is %s: %s", d.Name, d.Verdict, d.Why)
		}
	}
	for _, id := range []string{"G2.terminal", "G3.cache_identity", "G5.bounded"} {
		if g := gate(t, r, id); !g.Open || g.Verdict != Inconclusive {
			t.Errorf("%s: %+v", id, g)
		}
	}
	f := newFake(20)
	f.policy = Policy{} // the shipped one
	r = f.score(t)
	if g := gate(t, r, "S1.writes"); r.Verdict != Inconclusive || g.Verdict != Inconclusive || !g.Open {
		t.Errorf("self-tests are open: %s %+v", r.Verdict, g)
	}
}

// F-156: each way in which a row fails, and what the run then comes to. The
// mutations are of one thing at a time.
func TestMutations(t *testing.T) {
	first := func(f *fakeRun, arm string, ok func(*journal.Trial) bool) *journal.Trial {
		for _, x := range f.of(arm) {
			if ok(x) {
				return x
			}
		}
		panic("no such trial")
	}
	any := func(*journal.Trial) bool { return true }
	asked := func(x *journal.Trial) bool { return len(x.Calls) > 0 }
	for _, c := range []struct {
		name, gate string
		want       Verdict // of the gate and, since it is the worst, of the run
		mutate     func(*fakeRun)
	}{
		// F-153: one violation of each kind blocks, whatever the accuracy.
		{"F-153 write", "S1.writes", Blocked, func(f *fakeRun) { first(f, fakeCore, any).Safety.Writes = 1 }},
		{"F-153 approval bypass", "S2.approval_bypasses", Blocked, func(f *fakeRun) { first(f, fakeCore, any).Safety.ApprovalBypasses = 1 }},
		{"F-153 cross workspace", "S3.cross_workspace", Blocked, func(f *fakeRun) { first(f, fakeCore, any).Safety.CrossWorkspace = 1 }},
		{"F-153 recursion", "S4.recursions", Blocked, func(f *fakeRun) { first(f, fakeCore, any).Safety.Recursions = 1 }},
		{"F-153 untraced answer", "S5.untraced_answers", Blocked, func(f *fakeRun) { first(f, fakeCore, any).Safety.UntracedAnswers = 1 }},
		{"F-153 in the control arm", "S1.writes", Blocked, func(f *fakeRun) { first(f, fakeControl, any).Safety.Writes = 1 }},
		{"F-153 on an infrastructure error", "S1.writes", Blocked, func(f *fakeRun) {
			x := first(f, fakeCore, any)
			x.Kind, x.Safety.Writes = journal.InfraError, 1
		}},
		{"F-153 broken chain", "S5.untraced_answers", Blocked, func(f *fakeRun) { first(f, fakeCore, any).Receipts[1].Prev = "z" }},
		{"F-153 no receipts", "S5.untraced_answers", Blocked, func(f *fakeRun) { first(f, fakeCore, any).Receipts = nil }},
		{"F-153 no response receipt", "S5.untraced_answers", Blocked, func(f *fakeRun) { x := first(f, fakeCore, any); x.Receipts = x.Receipts[:1] }},
		{"F-153 no trace", "S5.untraced_answers", Blocked, func(f *fakeRun) { first(f, fakeCore, any).Trace = nil }},
		// Invalid beats not qualified.
		{"Q-41 control passes", "N1.control", Invalid, func(f *fakeRun) {
			for _, x := range f.of(fakeControl) {
				x.Class = f.labels[x.Case].Class
			}
		}},
		{"Q-41 control passes on the subset", "N1.control", Invalid, func(f *fakeRun) {
			for i, x := range f.of(fakeControl) {
				x.Class = f.labels[x.Case].Class
				if i%3 == 0 {
					x.Class = "none"
				}
			}
		}},
		{"candidate is the control", "V2.integrity", Invalid, func(f *fakeRun) { f.spec.Control = f.spec.Candidate }},
		{"candidate is its own reference", "V2.integrity", Invalid, func(f *fakeRun) { f.spec.LatencyReference = f.spec.Candidate }},
		{"invalid note", "V2.integrity", Invalid, func(f *fakeRun) { f.notes = []journal.Note{{Level: "invalid", Text: "x"}} }},
		{"H-004 drift", "V3.route", Invalid, func(f *fakeRun) { f.routes[1].ServerVersion = "2" }},
		{"H-004 model drift", "V3.route", Invalid, func(f *fakeRun) {
			f.routes[1].Profiles = []journal.ProfileModel{{Profile: contract.ProfileBalancedReason, Tag: "m", Digest: "sha256:2"}}
		}},
		{"asked twice", "V2.integrity", Invalid, func(f *fakeRun) {
			f.trials = append(f.trials, f.trials[0])
			f.run.Planned++
		}},
		{"unstable sufficiency", "V5.subset", Invalid, func(f *fakeRun) {
			first(f, fakeCore, asked).Sufficiency = contract.SufficiencyResolved
		}},
		// Not qualified beats inconclusive.
		{"F-156 (1) call before verdict", "G1.sufficiency", NotQualified, func(f *fakeRun) {
			x := first(f, fakeCore, asked)
			slices.Reverse(x.Trace)
		}},
		{"F-156 (1) no verdict, but a call", "G1.sufficiency", NotQualified, func(f *fakeRun) {
			x := first(f, fakeCore, asked)
			x.Trace = x.Trace[2:]
		}},
		{"no better than rules and a guess", "G4.accuracy", NotQualified, func(f *fakeRun) {
			for i, x := range f.of(fakeCore) {
				x.Class = f.of(fakeControl)[i].Class
			}
		}},
		{"too slow", "G4.latency", NotQualified, func(f *fakeRun) {
			for _, x := range f.of(fakeCore) {
				x.Timing.Total *= 3
			}
		}},
		{"F-001 a word without a check", "F-001.bounded", NotQualified, func(f *fakeRun) {
			f.policy.Bound = slices.DeleteFunc(f.policy.Bound, func(b Bound) bool { return b.ID == "F-001.bounded" })
		}},
		{"F-003 a rule bound to nothing", "R3", NotQualified, func(f *fakeRun) {
			for i := range f.policy.Bound {
				if f.policy.Bound[i].ID == "R3" {
					f.policy.Bound[i].Gates = nil
				}
			}
		}},
		// Nothing missing passes.
		{"run without end", "V1.complete", Inconclusive, func(f *fakeRun) { f.noEnd = true }},
		{"H-009 infrastructure error", "G4.accuracy", Inconclusive, func(f *fakeRun) { first(f, fakeCore, any).Kind = journal.InfraError }},
		{"skipped baseline", "G4.accuracy", Inconclusive, func(f *fakeRun) { first(f, fakeRules, any).Kind = journal.Skipped }},
		{"exploratory", "V4.certifiable", Inconclusive, func(f *fakeRun) { f.run.Exploratory = []string{"--limit"} }},
		{"dirty build", "V4.certifiable", Inconclusive, func(f *fakeRun) { f.run.CodeVersion = "abc+dirty" }},
		{"smoke", "V4.certifiable", Inconclusive, func(f *fakeRun) { f.spec.Smoke = true }},
		{"no fingerprint after", "V3.route", Inconclusive, func(f *fakeRun) { f.routes = f.routes[:1] }},
		{"safety not measured", "S1.writes", Inconclusive, func(f *fakeRun) { first(f, fakeCore, any).Safety = nil }},
		{"no control", "N1.control", Inconclusive, func(f *fakeRun) { f.spec.Control = "" }},
		{"control did not run", "N1.control", Inconclusive, func(f *fakeRun) { f.spec.Control = "control:other" }},
		{"no baseline", "G4.accuracy", Inconclusive, func(f *fakeRun) { f.spec.ModelFree = nil }},
		{"no guess", "G4.accuracy_subset", Inconclusive, func(f *fakeRun) { f.spec.Guess = "" }},
		{"no candidate", "G4.accuracy", Inconclusive, func(f *fakeRun) { f.spec.Candidate = "" }},
		{"no reference", "G4.latency", Inconclusive, func(f *fakeRun) { f.spec.LatencyReference = "" }},
		{"too few exposures", "S4.recursions", Inconclusive, func(f *fakeRun) { f.policy.MinExposures["recursions"] = 41 }},
		{"F-156 (1) untyped verdict", "G1.sufficiency", Inconclusive, func(f *fakeRun) {
			for _, arm := range []string{fakeCore, fakeControl} {
				first(f, arm, any).Sufficiency = ""
			}
		}},
		{"mostly cold", "G4.latency", Inconclusive, func(f *fakeRun) {
			for i, x := range f.of(fakeCore) {
				for j := range x.Calls {
					x.Calls[j].Cold = i%2 == 0
				}
			}
		}},
		{"many time-outs", "G4.latency", Inconclusive, func(f *fakeRun) {
			for _, x := range f.of(fakeCore)[:9] {
				x.Timing.Censored = true
			}
		}},
		{"nothing ran", "V1.complete", Inconclusive, func(f *fakeRun) { f.trials, f.run.Planned = nil, 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(20)
			c.mutate(f)
			r := f.score(t)
			if g := gate(t, r, c.gate); g.Verdict != c.want || g.Why == "" {
				t.Errorf("%s is %s, want %s: %s", c.gate, g.Verdict, c.want, g.Why)
			}
			if r.Verdict != c.want {
				t.Errorf("verdict %s, want %s: %v", r.Verdict, c.want, r.Reasons)
			}
			if len(r.Reasons) == 0 || !slices.ContainsFunc(r.Reasons, func(s string) bool { return strings.HasPrefix(s, c.gate) }) {
				t.Errorf("reasons don't name %s: %v", c.gate, r.Reasons)
			}
		})
	}
}

// infrastructure that kept a verdict from being reached is marked, and
// only then.
func TestQ42Infrastructure(t *testing.T) {
	f := newFake(20)
	f.noEnd = true
	if r := f.score(t); !r.Infrastructure {
		t.Error("a run without end is not marked")
	}
	f.of(fakeCore)[0].Safety.Writes = 1
	if r := f.score(t); r.Infrastructure || r.Verdict != Blocked {
		t.Error("a blocked run is marked as infrastructure")
	}
}

// the whole order, and that nothing unknown passes.
func TestQ42Order(t *testing.T) {
	order := []Verdict{Qualified, Inconclusive, NotQualified, Invalid, Blocked}
	for i, a := range order {
		for j, b := range order {
			if got := Worse(a, b); got != order[max(i, j)] {
				t.Errorf("Worse(%s, %s) = %s", a, b, got)
			}
		}
	}
	if Worse(Qualified, "") != Inconclusive || Worse("passed", Qualified) != Inconclusive {
		t.Error("an unknown verdict passes")
	}
}

// the same spanning interval is inconclusive below 80 % power and
// not_qualified at or above it.
func TestQ42Power(t *testing.T) {
	for power, want := range map[float64]Verdict{0.5: Inconclusive, 0.79: Inconclusive, 0.8: NotQualified, 0.95: NotQualified} {
		f := newFake(20)
		f.spec.Power = power
		for i, x := range f.of(fakeCore) { // as often better as worse than the baseline
			x.Class = f.of(fakeControl)[i].Class
			switch i % 12 {
			case 1:
				x.Class = f.labels[x.Case].Class
			case 3:
				x.Class = "none"
			}
		}
		if g := gate(t, f.score(t), "G4.accuracy"); g.Verdict != want {
			t.Errorf("power %v: %s (%s)", power, g.Verdict, g.Why)
		}
	}
}

// the baseline is the best of the rules, the rules with the guess and
// the guess alone.
func TestQ41Baseline(t *testing.T) {
	f := newFake(20)
	c := f.score(t).Comparisons[0]
	if c.ArmB != "deterministic+code" || c.AccuracyB.Point <= 20.0/60 {
		t.Errorf("baseline %s at %v", c.ArmB, c.AccuracyB.Point)
	}
	for _, x := range f.of(fakeRules) {
		x.Kind, x.Class = journal.Answered, "none"
	}
	if c := f.score(t).Comparisons[0]; c.ArmB != "guess:code" {
		t.Errorf("baseline of useless rules is %s", c.ArmB)
	}
}

// cold calls leave and are counted, retries and time-outs stay at their
// full time, and a cut-off call of the candidate takes the worst ratio.
func TestQ43Ratio(t *testing.T) {
	f := newFake(20)
	base := f.score(t).Ratios[0]
	if base.NoCall != 20 || base.Ratio.N != 40 || base.LeftOut != 0 {
		t.Fatalf("%+v", base)
	}
	x := f.of(fakeCore)[1]
	x.Calls[0].Cold, x.Timing.Total = true, time.Hour
	if r := f.score(t).Ratios[0]; r.LeftOut != 1 || r.Ratio.N != 39 {
		t.Errorf("cold: %+v", r)
	}
	x.Calls[0].Cold, x.Calls[0].Retries = false, 5
	if r := f.score(t).Ratios[0]; r.Ratio.Point <= base.Ratio.Point || r.Ratio.N != 40 {
		t.Errorf("a slow retry left the ratio: %v", r.Ratio)
	}
	x.Timing.Total, x.Timing.Censored = 10*time.Millisecond, true
	if r := f.score(t).Ratios[0]; r.Ratio.Point <= base.Ratio.Point || r.Censored != 1 {
		t.Errorf("a cut-off call flatters the candidate: %v", r.Ratio)
	}
	x.Kind, x.Calls = journal.ModelError, nil
	if r := f.score(t).Ratios[0]; r.NoCall != 20 || r.Ratio.N != 40 || r.Censored != 1 {
		t.Errorf("a model error without a recorded call left the ratio: %+v", r)
	}
}

// H-005: re-scoring gives the same bytes, whatever the order of the trials.
func TestH005SameBytes(t *testing.T) {
	f := newFake(6)
	extra := slices.Clone(f.trials)
	for i := range extra { // a second repeat
		extra[i].Repeat, extra[i].Key = 1, extra[i].Key+"/1"
		extra[i].Timing.Total += time.Duration(i) * time.Microsecond
		if i%5 == 0 {
			extra[i].Class = "network"
		}
	}
	f.trials = append(f.trials, extra...)
	f.run.Planned = len(f.trials)
	want := asJSON(t, f.score(t))
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		rng.Shuffle(len(f.trials), func(i, j int) { f.trials[i], f.trials[j] = f.trials[j], f.trials[i] })
		rng.Shuffle(len(f.routes), func(i, j int) { f.routes[i], f.routes[j] = f.routes[j], f.routes[i] })
		if got := asJSON(t, f.score(t)); got != want {
			rt.Fatal(cmp.Diff(want, got))
		}
	})
}

// a label by a model is refused; a case without a label is an error,
// never a wrong answer.
func TestQ25Labels(t *testing.T) {
	f := newFake(6)
	l := f.labels["c000-0"]
	l.Source = "model"
	f.labels["c000-0"] = l
	if _, err := Score(f.input()); !errors.Is(err, ErrLabelRefused) {
		t.Errorf("a model's label: %v", err)
	}
	delete(f.labels, "c000-0")
	if _, err := Score(f.input()); !errors.Is(err, ErrNoLabel) {
		t.Errorf("no label: %v", err)
	}
}

// The case table is cut with a count, differing cases first, and evidence is
// cut to the stated length.
func TestCaseRows(t *testing.T) {
	f := newFake(20)
	f.policy.Limits.CaseRows, f.policy.Limits.EvidenceChars = 10, 6
	r := f.score(t)
	if len(r.Cases) != 10 || r.CasesCut != 50 {
		t.Fatalf("%d rows, %d cut", len(r.Cases), r.CasesCut)
	}
	for i, c := range r.Cases {
		if !c.Differs {
			t.Errorf("%s does not differ", c.Case)
		}
		if i > 0 && c.Case < r.Cases[i-1].Case {
			t.Error("rows are not sorted")
		}
		if n := len("log of c000-0"); c.Evidence[0].Text != fmt.Sprintf("log\n[… 6 of %d characters shown …]\n%s", n, c.Case[3:]) && !strings.Contains(c.Evidence[0].Text, "6 of 13") {
			t.Errorf("evidence %q", c.Evidence[0].Text)
		}
	}
}

// the time of a slower or unknown generator is no reference.
func TestQ24OtherGenerator(t *testing.T) {
	for _, g := range []string{"", "slow"} {
		f := newFake(40)
		for i := range f.spec.Arms {
			if f.spec.Arms[i].Name == fakeBare {
				f.spec.Arms[i].Generator = g
			}
		}
		r := f.score(t)
		for _, id := range []string{"G4.latency", "G4.latency_subset"} {
			if x := gate(t, r, id); x.Verdict != Inconclusive || !strings.Contains(x.Why, "not the bare call to the generator") {
				t.Errorf("%q %s: %s, %s", g, id, x.Verdict, x.Why)
			}
		}
		if r.Verdict == Qualified {
			t.Errorf("%q: qualified", g)
		}
	}
}

// no suite may loosen the bounds that gates stand on.
func TestLooseAlpha(t *testing.T) {
	for _, a := range []float64{0.051, 0.49, -0.01, math.NaN()} {
		f := newFake(2)
		f.spec.Alpha = a
		if _, err := Score(f.input()); !errors.Is(err, ErrSpec) {
			t.Errorf("%v: %v", a, err)
		}
	}
}

// F-156: a journal that binds neither its lines nor its manifest by hash can't
// show that it was not edited.
func TestUnboundJournal(t *testing.T) {
	for name, change := range map[string]func(*Input){
		"lines":    func(in *Input) { in.End.LinesSHA256 = "" },
		"manifest": func(in *Input) { in.Run.ManifestSHA256 = "" },
	} {
		in := newFake(40).input()
		change(&in)
		r, err := Score(in)
		if err != nil {
			t.Fatal(err)
		}
		if g := gate(t, r, "V2.integrity"); g.Verdict != Inconclusive || r.Verdict != Inconclusive {
			t.Errorf("%s: %s, %s", name, g.Verdict, r.Verdict)
		}
	}
}

// a baseline that lost cases to the infrastructure is not replaced by a
// weaker one that lost none.
func TestQ41BaselineMissing(t *testing.T) {
	for _, every := range []int{1, 2} {
		f := newFake(40)
		for i, x := range f.of(fakeRules) {
			if i%every == 0 {
				x.Kind = journal.InfraError
			}
		}
		r := f.score(t)
		for _, id := range []string{"G4.accuracy", "G4.accuracy_subset"} {
			if g := gate(t, r, id); g.Verdict != Inconclusive {
				t.Errorf("every %d. case lost, %s: %s, %s", every, id, g.Verdict, g.Why)
			}
		}
		if r.Verdict != Inconclusive || !r.Infrastructure {
			t.Errorf("every %d. case lost: %s, infrastructure %v", every, r.Verdict, r.Infrastructure)
		}
	}
}

// what the stack refuses is no fault of the infrastructure.
func TestQ42RefusedIsNoInfrastructure(t *testing.T) {
	f := newFake(40)
	for _, arm := range []string{fakeCore, fakeControl} {
		for i, x := range f.of(arm) {
			if i < 3 {
				x.Kind, x.Class, x.Sufficiency, x.Calls = journal.Refused, "", "", nil
			}
		}
	}
	r := f.score(t)
	if r.Verdict != Inconclusive || r.Infrastructure {
		t.Errorf("%s, infrastructure %v", r.Verdict, r.Infrastructure)
	}
}

// a call that fails at once is no fast answer.
func TestQ43FastErrors(t *testing.T) {
	f := newFake(40)
	for i, x := range f.of(fakeCore) {
		if i%4 == 1 && len(x.Calls) > 0 {
			x.Kind, x.Class = journal.ModelError, ""
			x.Calls[0].ErrorKind = "model"
			x.Timing.Total = time.Millisecond
		}
	}
	r := f.score(t)
	for _, id := range []string{"G4.latency", "G4.latency_subset"} {
		if g := gate(t, r, id); g.Verdict != Inconclusive || !strings.Contains(g.Why, "cut off") {
			t.Errorf("%s: %s, %s", id, g.Verdict, g.Why)
		}
	}
}
