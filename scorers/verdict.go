package scorers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fabriccore/assay/runner/journal"
)

// severity orders verdicts from best to worst.
var severity = []Verdict{Qualified, Inconclusive, NotQualified, Invalid, Blocked}

// Worse returns the verdict that wins when both are true. An unknown
// or empty verdict counts as inconclusive.
func Worse(a, b Verdict) Verdict {
	return severity[max(rank(a), rank(b))]
}

func rank(v Verdict) int {
	if i := slices.Index(severity, v); i >= 0 {
		return i
	}
	return slices.Index(severity, Inconclusive)
}

// judge applies every rule and the bound rows, and sums up.
func (s *scoring) judge() {
	s.result.Gates = []Gate{}
	verdicts := map[string]Gate{}
	for _, r := range rules() {
		o := outcome{verdict: Inconclusive, observed: "not measured", limit: "proven", why: "no check exists yet"}
		if r.judge != nil {
			o = r.judge(s)
		}
		g := Gate{ID: r.id, Requires: r.requires, Dimension: r.dimension, Figure: o.figure, Observed: o.observed,
			Limit: o.limit, Verdict: o.verdict, Why: o.why, Evidence: r.evidence, Open: r.judge == nil}
		if why, open := s.in.Policy.Open[r.id]; open {
			g.Open = true
			if rank(g.Verdict) <= rank(Inconclusive) {
				g.Why = why
			}
		}
		if r.dimension == dimSafety && g.Verdict == Inconclusive && s.selfTestOpen(r.id) {
			g.Open = true
		}
		if g.Open {
			g.Verdict = Worse(g.Verdict, Inconclusive)
		}
		if o.infrastructure && g.Verdict == Inconclusive {
			s.result.Infrastructure = true
		}
		verdicts[g.ID] = g
		s.result.Gates = append(s.result.Gates, g)
	}
	for _, id := range requiredBound {
		s.result.Gates = append(s.result.Gates, s.bound(id, verdicts))
	}
	s.sumUp()
}

func (s *scoring) selfTestOpen(id string) bool {
	_, name, _ := strings.Cut(id, ".")
	return s.counter(name).SelfTest != selfTestRaised
}

// bound is a row that others prove. A row that the policy leaves out or binds
// to nothing is a missing posture check: not_qualified (F-001, F-003, Q-42).
func (s *scoring) bound(id string, verdicts map[string]Gate) Gate {
	g := Gate{ID: id, Dimension: dimPosture, Limit: "its checks hold", Evidence: []string{}, Verdict: NotQualified,
		Requires: "a row that every report has", Observed: "no executed check", Why: "no check is bound to this row (F-001, F-003)"}
	i := slices.IndexFunc(s.in.Policy.Bound, func(b Bound) bool { return b.ID == id })
	if i < 0 {
		return g
	}
	b := s.in.Policy.Bound[i]
	g.Requires = b.Requires
	switch {
	case b.Open != "":
		g.Verdict, g.Open, g.Why = Inconclusive, true, b.Open
		g.Evidence = append(g.Evidence, b.Gates...)
	case len(b.Gates) > 0:
		g.Verdict, g.Why = Qualified, "all of its checks hold"
		holds := 0
		for _, id := range b.Gates {
			v := verdicts[id]
			g.Evidence = append(g.Evidence, id)
			g.Open = g.Open || v.Open
			if v.Verdict == Qualified {
				holds++
			}
			if rank(v.Verdict) > rank(g.Verdict) {
				g.Verdict, g.Why = v.Verdict, fmt.Sprintf("%s is %s", id, v.Verdict)
			}
		}
		g.Observed = fmt.Sprintf("%d of %d checks hold", holds, len(b.Gates))
	}
	return g
}

// sumUp reaches the verdict of every dimension and the overall one, and says
// why: one line for each row at the overall verdict's own level. Rows that
// only repeat another row's verdict are left out of the reasons.
func (s *scoring) sumUp() {
	s.result.Verdict = Qualified
	s.result.Dimensions = []Dimension{}
	for _, name := range dimensions {
		d := Dimension{Name: name, Verdict: Inconclusive, Why: "no row of this dimension was judged"}
		first := true
		for _, g := range s.result.Gates {
			if g.Dimension != name {
				continue
			}
			if first || rank(g.Verdict) > rank(d.Verdict) {
				d.Verdict, d.Why, first = g.Verdict, g.ID+": "+g.Why, false
			}
		}
		if d.Verdict == Qualified {
			d.Why = "every row holds"
		}
		s.result.Dimensions = append(s.result.Dimensions, d)
		s.result.Verdict = Worse(s.result.Verdict, d.Verdict)
	}
	s.result.Reasons = []string{}
	for _, g := range s.result.Gates {
		repeats := slices.Contains(requiredBound, g.ID) && g.Observed != "no executed check"
		if g.Verdict == s.result.Verdict && g.Verdict != Qualified && !repeats {
			open := ""
			if g.Open && g.Verdict == Inconclusive {
				open = "open: "
			}
			s.result.Reasons = append(s.result.Reasons, fmt.Sprintf("%s (%s): %s%s", g.ID, g.Requires, open, g.Why))
		}
	}
	if s.result.Verdict == Qualified {
		s.result.Reasons = append(s.result.Reasons, fmt.Sprintf("all %d rows hold", len(s.result.Gates)))
	}
	// What was not asked because of a deadline or an interrupt is no failure of
	// the infrastructure.
	asked := s.in.Interrupted == "deadline" || s.in.Interrupted == "signal"
	s.result.Infrastructure = s.result.Infrastructure && s.result.Verdict == Inconclusive && (!asked || s.counts[journal.InfraError] > 0)
}
