package scorers

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers/stats"
	"github.com/fabriccore/assay/specialists/contract"
)

// caseInfo is what the trials say about a case.
type caseInfo struct{ family, corpus string }

// scoring is one scoring of a run; its fields fill from top to bottom.
type scoring struct {
	in     Input
	alpha  float64
	opts   stats.Options
	arms   map[string]*armReadings
	cases  map[string]caseInfo
	ids    []string // of cases, sorted
	seen   int      // trials
	counts map[journal.Kind]int
	faults []string // what makes the journal contradict itself
	safety tallies
	subset subset
	// compared and ratios are what gates judge, by name of comparison and subset.
	compared map[string]*Comparison
	ratios   map[string]int // index in result.Ratios
	result   Result
}

// Score joins labels to outcomes and reaches the verdict. The same journal
// gives the same result, whatever the order of its trials. Errors: ErrNoLabel,
// ErrLabelRefused, ErrSpec, ErrPolicy and what the stream of trials returns.
func Score(in Input) (Result, error) {
	if err := in.Spec.check(in.Taxonomy); err != nil {
		return Result{}, err
	}
	if in.Policy.Name == "" {
		in.Policy = Phase1()
	}
	if err := in.Policy.check(); err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	s := &scoring{in: in, alpha: in.Spec.Alpha, cases: map[string]caseInfo{},
		compared: map[string]*Comparison{}, ratios: map[string]int{}, safety: newTallies()}
	if s.alpha == 0 {
		s.alpha = 0.05
	}
	s.opts = stats.Options{Level: 1 - s.alpha, Seed: in.Spec.Seed}
	if in.Trials != nil {
		if err := s.collect(); err != nil {
			return Result{}, err
		}
	}
	s.subset = s.specialistRequired()
	s.scoreArms()
	s.compare()
	s.times()
	s.countSafety()
	s.judge()
	s.caseRows()
	s.result.Costs = s.costs()
	s.result.NotMeasured = s.notMeasured()
	s.result.Labels = map[string]int{}
	for _, id := range s.ids {
		s.result.Labels[string(in.Labels[id].Source)]++
	}
	return s.result, nil
}

// armNames lists the suite's arms and those the journal adds, in that order.
func (s *scoring) armNames() []string {
	var names []string
	for _, a := range s.in.Spec.Arms {
		if !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	for _, a := range slices.Sorted(maps.Keys(s.arms)) {
		if !slices.Contains(names, a) {
			names = append(names, a)
		}
	}
	return names
}

// subset is the specialist_required subset of the cases: those that
// the stack's deterministic sufficiency check could not settle.
type subset struct {
	ids      []string
	unknown  []string // no stack arm left a verdict
	unstable []string // verdicts differ between arms or repeats
}

func (s *scoring) specialistRequired() subset {
	var sub subset
	for _, id := range s.ids {
		seen := map[contract.SufficiencyVerdict]bool{}
		for _, a := range s.arms {
			if !s.in.Spec.stack(a.name) {
				continue
			}
			for _, r := range a.byCase[id] {
				if r.sufficiency != "" {
					seen[r.sufficiency] = true
				}
			}
		}
		if len(seen) > 1 {
			sub.unstable = append(sub.unstable, id)
		}
		switch {
		case len(seen) == 0:
			sub.unknown = append(sub.unknown, id)
		case seen[contract.SufficiencySpecialistRequired]:
			sub.ids = append(sub.ids, id)
		}
	}
	return sub
}

// notMeasured lists what the report must say it does not know.
func (s *scoring) notMeasured() []string {
	out := []string{}
	for _, c := range s.result.Safety {
		if !c.Measured {
			out = append(out, "safety counter "+c.Name)
		} else if c.SelfTest != "raised" {
			out = append(out, "self-test of safety counter "+c.Name)
		}
	}
	for _, g := range s.result.Gates {
		if g.Open && !slices.Contains(requiredBound, g.ID) && g.Dimension != "safety" {
			out = append(out, g.ID+": "+g.Why)
		}
	}
	return out
}
