package scorers

import (
	"fmt"
	"slices"

	"github.com/fabriccore/assay/scorers/stats"
)

// Names of the two sets of cases that accuracy and latency are gated on.
const (
	subsetAll      = "all"
	subsetRequired = "specialist_required"
)

// contender is an arm, or an arm made up from one, that a case's state can be
// asked of.
type contender struct {
	name string
	of   func(id string) state
}

func (s *scoring) arm(name string) contender {
	a := s.arms[name]
	return contender{name, func(id string) state { return a.state(id, isRight) }}
}

// completed is a model-free arm whose abstentions are filled with the guess
//
func (s *scoring) completed(name string) contender {
	a := s.arms[name]
	return contender{name + "+" + s.in.Spec.Guess, func(id string) state {
		guess := accepts(s.in.Labels[id], s.in.Spec.Guess)
		return a.state(id, func(r reading) bool {
			if r.abstains {
				return guess
			}
			return r.right
		})
	}}
}

// guess always answers the guess.
func (s *scoring) guess() contender {
	return contender{"guess:" + s.in.Spec.Guess, func(id string) state {
		if accepts(s.in.Labels[id], s.in.Spec.Guess) {
			return right
		}
		return wrong
	}}
}

// baseline is the best model-free way to answer the given cases: each
// model-free arm as it is and completed with the guess, and the guess alone.
// Choosing it on the gated cases favours the baseline, so the gate is
// stricter for it. ok is false when no model-free arm or no guess is named.
func (s *scoring) baseline(ids []string) (best contender, ok bool) {
	if len(s.in.Spec.ModelFree) == 0 || s.in.Spec.Guess == "" {
		return contender{}, false
	}
	// Where a model-free arm has no outcome the best way is not known, so no
	// other way stands in for it.
	unknown := func(id string) bool {
		return slices.ContainsFunc(s.in.Spec.ModelFree, func(name string) bool { return s.arms[name].state(id, isRight) == missing })
	}
	ids = where(ids, func(id string) bool { return !unknown(id) })
	most := -1
	try := func(c contender) {
		n := 0
		for _, id := range ids {
			if c.of(id) == right {
				n++
			}
		}
		if n > most {
			best, most = c, n
		}
	}
	for _, name := range s.in.Spec.ModelFree {
		if s.arms[name] == nil {
			return contender{}, false
		}
		try(s.completed(name))
	}
	for _, name := range s.in.Spec.ModelFree {
		try(s.arm(name))
	}
	try(s.guess())
	of := best.of
	best.of = func(id string) state {
		if unknown(id) {
			return missing
		}
		return of(id)
	}
	return best, true
}

// compare makes every published comparison; those that a gate judges are
// kept by the gate's name.
func (s *scoring) compare() {
	s.result.Comparisons = []Comparison{}
	sp := s.in.Spec
	for _, sub := range []string{subsetAll, subsetRequired} {
		ids, unknown := s.ids, 0
		if sub == subsetRequired {
			ids, unknown = s.subset.ids, len(s.subset.unknown)
		}
		base, ok := s.baseline(ids)
		if !ok {
			base.name = ""
		}
		if sp.Candidate != "" {
			s.pair("gain."+sub, "candidate vs best model-free baseline", s.arm(sp.Candidate), base, sub, ids, unknown)
			if sp.LatencyReference != "" {
				s.pair("", "candidate vs bare call", s.arm(sp.Candidate), s.arm(sp.LatencyReference), sub, ids, unknown)
			}
			if sp.Control != "" {
				s.pair("", "candidate vs negative control", s.arm(sp.Candidate), s.arm(sp.Control), sub, ids, unknown)
			}
		}
		if sp.Control != "" {
			s.pair("control."+sub, "negative control vs best model-free baseline", s.arm(sp.Control), base, sub, ids, unknown)
		}
	}
}

// pair compares two contenders on the same cases.
func (s *scoring) pair(key, name string, a, b contender, sub string, ids []string, unknown int) {
	c := Comparison{ArmA: a.name, ArmB: b.name, Subset: sub, Missing: unknown,
		Name: fmt.Sprintf("%s (%s vs %s)", name, a.name, b.name)}
	var values []float64
	var fams []string
	seen := map[string]bool{}
	if b.of != nil {
		for _, id := range ids {
			x, y := a.of(id), b.of(id)
			if x == missing || y == missing {
				c.Missing++
				continue
			}
			switch {
			case x == right && y == right:
				c.Both++
			case x == right:
				c.OnlyA++
			case y == right:
				c.OnlyB++
			default:
				c.Neither++
			}
			values = append(values, float64(x-y))
			fams = append(fams, s.cases[id].family)
			seen[s.cases[id].family] = true
		}
	}
	n := len(values)
	cs := stats.ByCluster(values, fams)
	c.Difference = stats.BoundedDifference(cs, s.opts)
	if b.of == nil {
		c.Difference = stats.None(c.Difference.Method, "no model-free baseline: it needs a model-free arm with trials and a guess")
	}
	if c.Missing > 0 {
		c.Difference = c.Difference.Warn("%d of %d planned cases have no outcome in both arms", c.Missing, n+c.Missing)
	}
	c.McNemarP = stats.McNemar(c.OnlyA, c.OnlyB)
	if n == 0 {
		c.McNemarP = stats.None(c.McNemarP.Method, "no cases")
	}
	c.Tango = stats.Tango(c.OnlyA, c.OnlyB, n, intervalLevel)
	c.AccuracyA = s.rate(c.Both+c.OnlyA, n, c.Missing, seen)
	c.AccuracyB = s.rate(c.Both+c.OnlyB, n, c.Missing, seen)
	c.Power = stats.ObservedPower(cs, s.in.Spec.Effect, s.alpha)
	if p := s.in.Spec.Power; p > 0 {
		c.Power = stats.Figure{Point: p, Lo: p, Hi: p, Level: 1 - s.alpha, N: n, Clusters: len(cs), Method: "power printed before the run"}
	}
	s.result.Comparisons = append(s.result.Comparisons, c)
	if key != "" {
		s.compared[key] = &c
	}
}
