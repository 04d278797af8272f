package scorers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fabriccore/assay/runner/journal"
)

func judgeComplete(s *scoring) outcome {
	o := outcome{verdict: Inconclusive, limit: "all planned trials", observed: fmt.Sprintf("%d of %d planned trials", s.seen, s.in.Run.Planned)}
	infra, skipped := s.counts[journal.InfraError], s.counts[journal.Skipped]
	switch {
	case s.in.End == nil:
		o.why, o.infrastructure = "the run did not end", true
	case s.in.Run.Planned <= 0:
		o.why = "no trial was planned"
	case s.seen < s.in.Run.Planned:
		o.why, o.infrastructure = fmt.Sprintf("%d planned trials are not in the journal", s.in.Run.Planned-s.seen), true
	case infra > 0:
		o.why, o.infrastructure = fmt.Sprintf("%d of %d trials failed on the infrastructure", infra, s.in.Run.Planned), true
	case skipped > 0:
		o.why, o.infrastructure = fmt.Sprintf("%d of %d trials were skipped", skipped, s.in.Run.Planned), true
	default:
		o.verdict, o.why = Qualified, "every planned trial has an outcome"
	}
	return o
}

func judgeIntegrity(s *scoring) outcome {
	faults := slices.Clone(s.faults)
	for _, n := range s.in.Notes {
		if n.Level == "invalid" {
			faults = append(faults, "note: "+n.Text)
		}
	}
	if s.in.Run.Planned > 0 && s.seen > s.in.Run.Planned {
		faults = append(faults, fmt.Sprintf("%d trials, only %d were planned", s.seen, s.in.Run.Planned))
	}
	if e := s.in.End; e != nil {
		sum := 0
		for _, n := range e.Counts {
			sum += n
		}
		if e.Planned != s.in.Run.Planned || sum != e.Planned {
			faults = append(faults, fmt.Sprintf("the end counts %d of %d planned trials, the run planned %d", sum, e.Planned, s.in.Run.Planned))
		}
		for _, k := range journal.Kinds {
			if e.Counts[k] != s.counts[k] {
				faults = append(faults, fmt.Sprintf("the end counts %d trials as %s, the journal holds %d", e.Counts[k], k, s.counts[k]))
			}
		}
	}
	sp := s.in.Spec
	if sp.Control != "" && (sp.Control == sp.Candidate || slices.Contains(sp.ModelFree, sp.Control)) {
		faults = append(faults, "the negative control is also another arm")
	}
	if sp.Candidate != "" && (sp.Candidate == sp.LatencyReference || slices.Contains(sp.ModelFree, sp.Candidate)) {
		faults = append(faults, "the candidate is compared with itself")
	}
	slices.Sort(faults)
	faults = slices.Compact(faults)
	o := outcome{verdict: Qualified, observed: fmt.Sprintf("%d faults", len(faults)), limit: "0 faults", why: "no fault found"}
	if len(faults) > 0 {
		o.verdict, o.why = Invalid, strings.Join(faults[:min(3, len(faults))], "; ")
		if len(faults) > 3 {
			o.why += fmt.Sprintf("; and %d more", len(faults)-3)
		}
	} else if e := s.in.End; e != nil && (e.LinesSHA256 == "" || s.in.Run.ManifestSHA256 == "") {
		o.verdict, o.why = Inconclusive, "the journal does not hold the hash of its manifest or of its lines, so an edit would not be seen"
	}
	return o
}

// judgeRoutes compares all fingerprints of each arm. An arm that called a
// model needs one before and one after.
func judgeRoutes(s *scoring) outcome {
	type prints struct {
		when    map[string]bool
		first   journal.Route
		drifted bool
	}
	by := map[string]*prints{}
	for _, r := range s.in.Routes {
		p := by[r.Arm]
		if p == nil {
			p = &prints{when: map[string]bool{}, first: r}
			by[r.Arm] = p
		}
		p.when[r.When] = true
		p.drifted = p.drifted || len(p.first.Differs(r)) > 0
	}
	var drift, lacking []string
	for _, a := range slices.Sorted(maps.Keys(by)) {
		if by[a].drifted {
			drift = append(drift, a)
		}
	}
	need := 0
	for _, name := range s.armNames() {
		a := s.arms[name]
		if a == nil || !a.modelled() {
			continue
		}
		need++
		if p := by[name]; p == nil || !p.when["before"] || !p.when["after"] {
			lacking = append(lacking, name)
		}
	}
	o := outcome{verdict: Qualified, limit: "equal", why: "no route changed",
		observed: fmt.Sprintf("%d arms with a model, %d drifted, %d without both fingerprints", need, len(drift), len(lacking))}
	switch {
	case len(drift) > 0:
		o.verdict, o.why = Invalid, "route drift: "+strings.Join(drift, ", ")
	case len(lacking) > 0:
		o.verdict, o.why = Inconclusive, "no fingerprint before and after: "+strings.Join(lacking, ", ")
	case need == 0:
		o.verdict, o.why = Inconclusive, "no arm called a model"
	}
	return o
}

// modelled reports whether any trial of the arm called a model.
func (a *armReadings) modelled() bool {
	for _, rs := range a.byCase {
		for _, r := range rs {
			if !r.noCall {
				return true
			}
		}
	}
	return false
}

func judgeCertifiable(s *scoring) outcome {
	why := slices.Clone(s.in.Run.Exploratory)
	if strings.HasSuffix(s.in.Run.CodeVersion, "+dirty") && len(why) == 0 {
		why = append(why, "the build is dirty")
	}
	if s.in.Spec.Smoke {
		why = append(why, "a smoke suite can't qualify")
	}
	if len(why) > 0 {
		return outcome{verdict: Inconclusive, observed: "exploratory", limit: "not exploratory", why: "exploratory: " + strings.Join(why, "; ")}
	}
	return outcome{verdict: Qualified, observed: "the committed suite", limit: "not exploratory", why: "the suite ran as committed"}
}

func judgeSubset(s *scoring) outcome {
	o := outcome{verdict: Qualified, limit: "one verdict a case", why: "the verdicts agree",
		observed: fmt.Sprintf("%d of %d cases need a specialist, %d unknown, %d unstable", len(s.subset.ids), len(s.ids), len(s.subset.unknown), len(s.subset.unstable))}
	switch {
	case len(s.subset.unstable) > 0:
		o.verdict, o.why = Invalid, fmt.Sprintf("the sufficiency verdict differs between stack arms or repeats on %d cases, first %s", len(s.subset.unstable), s.subset.unstable[0])
	case len(s.subset.unknown) > 0:
		o.verdict, o.why = Inconclusive, fmt.Sprintf("%d cases have no sufficiency verdict", len(s.subset.unknown))
	case len(s.subset.ids) == 0:
		o.verdict, o.why = Inconclusive, "no case needs a specialist"
	}
	return o
}

// judgeControl: a guess that passes an accuracy gate proves that the gate
// measures nothing, so the run is invalid.
func judgeControl(s *scoring) outcome {
	o := outcome{verdict: Inconclusive, limit: "lower bound ≤ " + num(s.in.Policy.Limits.AccuracyGain), observed: "not measured"}
	if s.in.Spec.Control == "" || s.arms[s.in.Spec.Control] == nil {
		o.why = "no negative control ran"
		return o
	}
	for _, sub := range []string{subsetAll, subsetRequired} {
		c := s.compared["control."+sub]
		if c == nil || !c.Difference.OK() {
			why := "no comparison"
			if c != nil {
				why = c.Difference.Missing
			}
			o.why = "the control has no bound on " + sub + ": " + why
			return o
		}
		f := c.Difference
		if sub == subsetAll {
			o.figure = &f
			o.observed = fmt.Sprintf("%s vs %s: difference %s, lower bound %s (n = %d cases, %d families)", c.ArmA, c.ArmB, num(f.Point), num(f.Lo), f.N, f.Clusters)
		}
		if f.Lo > s.in.Policy.Limits.AccuracyGain {
			o.verdict, o.why = Invalid, fmt.Sprintf("the negative control passes the accuracy gate on %s: lower bound %s (n = %d)", sub, num(f.Lo), f.N)
			return o
		}
		if c.Missing > 0 {
			o.why, o.infrastructure = fmt.Sprintf("%d of the control's cases have no outcome", c.Missing), s.lost()
			return o
		}
	}
	o.verdict, o.why = Qualified, "the control fails, as it must"
	return o
}
