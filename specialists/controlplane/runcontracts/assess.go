package runcontracts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fabriccore/assay/specialists/contract"
)

// ranked is a class with what speaks for it.
type ranked struct {
	class      string
	score      int // the heaviest rule counts three-fold, each further rule its weight
	conclusive int
	matches    []Match
}

// rank sums the matches by class, best first; ties keep taxonomy order.
func (e *Engine) rank(tax contract.Taxonomy, ev []contract.EvidenceItem) []ranked {
	by := map[string]*ranked{}
	for _, m := range e.Matches(tax, ev) {
		r := by[m.Rule.Class]
		if r == nil {
			r = &ranked{class: m.Rule.Class}
			by[m.Rule.Class] = r
		}
		r.matches = append(r.matches, m)
		if m.Rule.Conclusive {
			r.conclusive++
		}
	}
	var out []ranked
	for _, id := range tax.IDs() {
		r := by[id]
		if r == nil {
			continue
		}
		slices.SortStableFunc(r.matches, func(a, b Match) int { return b.Rule.Weight - a.Rule.Weight })
		r.score = 3 * r.matches[0].Rule.Weight
		if r.matches[0].Rule.Conclusive {
			r.score++
		}
		for _, m := range r.matches[1:] {
			r.score += m.Rule.Weight
		}
		out = append(out, *r)
	}
	slices.SortStableFunc(out, func(a, b ranked) int { return b.score - a.score })
	return out
}

// Assess says whether the rules settle the failure: exactly one class has a
// conclusive match and no other class carries a rule that names a cause
// (weight 3). Everything else needs a specialist (F-035, F-064).
func (e *Engine) Assess(_ context.Context, task contract.Task, tax contract.Taxonomy, ev []contract.EvidenceItem) (contract.DeterministicSufficiency, error) {
	if task.Type != contract.TaskFailureAnalysis {
		return e.blocked(contract.ReasonNoSpecialist), nil
	}
	text := 0
	for _, it := range ev {
		text += len(strings.TrimSpace(it.Text))
	}
	if text == 0 {
		return e.blocked(contract.ReasonEvidenceEmpty), nil
	}
	r := e.rank(tax, ev)
	if len(r) > 0 && r[0].conclusive > 0 && !contested(r) {
		a := e.assessment(tax, r)
		raw, err := json.Marshal(a)
		if err != nil {
			return contract.DeterministicSufficiency{}, fmt.Errorf("write the resolved result: %w", err)
		}
		return contract.DeterministicSufficiency{Verdict: contract.SufficiencyResolved, ReasonCode: contract.ReasonResolved,
			Evidence: a.Evidence, ResolvedResult: raw}, nil
	}
	need := contract.TaskFailureAnalysis
	return contract.DeterministicSufficiency{Verdict: contract.SufficiencySpecialistRequired, ReasonCode: contract.ReasonSpecialist,
		Evidence: []contract.EvidenceCite{}, RequiredTaskClass: &need, ResolvedResult: json.RawMessage("{}")}, nil
}

func (e *Engine) blocked(why contract.ReasonCode) contract.DeterministicSufficiency {
	return contract.DeterministicSufficiency{Verdict: contract.SufficiencyBlocked, ReasonCode: why,
		Evidence: []contract.EvidenceCite{}, ResolvedResult: json.RawMessage("{}")}
}

// contested reports whether another class than the first has a rule that
// names a cause.
func contested(r []ranked) bool {
	for _, o := range r[1:] {
		if o.matches[0].Rule.Weight >= 3 {
			return true
		}
	}
	return false
}

// Investigate is the Phase-0 path: rules over exit codes and known signatures
// with no model. It names the best class, or insufficient_evidence when no
// rule speaks.
func (e *Engine) Investigate(tax contract.Taxonomy, ev []contract.EvidenceItem) contract.FailureAssessment {
	return e.assessment(tax, e.rank(tax, ev))
}

func (e *Engine) assessment(tax contract.Taxonomy, r []ranked) contract.FailureAssessment {
	a := contract.FailureAssessment{
		FailureClass: contract.InsufficientEvidence, RootCauseHypotheses: []contract.Hypothesis{}, ImpactedSymbols: []string{},
		Evidence: []contract.EvidenceCite{}, Assumptions: []string{}, UnresolvedQuestions: []string{},
		Provenance: []contract.Provenance{{Step: "rules", Source: e.name, Digest: e.digest}},
	}
	if len(r) == 0 {
		a.UnresolvedQuestions = append(a.UnresolvedQuestions, "no known signature matches")
		return a
	}
	a.FailureClass = r[0].class
	for _, c := range r {
		h := contract.Hypothesis{FailureClass: c.class, Cause: c.matches[0].Cite.Quote,
			ConfidenceInputs: contract.ConfidenceInputs{"rule_score": float64(c.score), "rules_matched": float64(len(c.matches))}}
		for _, m := range c.matches {
			if !slices.Contains(h.EvidenceRefs, m.Cite.Ref) {
				h.EvidenceRefs = append(h.EvidenceRefs, m.Cite.Ref)
			}
		}
		a.RootCauseHypotheses = append(a.RootCauseHypotheses, h)
	}
	for _, m := range r[0].matches {
		a.Evidence = append(a.Evidence, m.Cite)
	}
	return a
}

// Score gives every class of the taxonomy, in its order, the rules' score and
// the evidence references that speak for it.
func (e *Engine) Score(tax contract.Taxonomy, ev []contract.EvidenceItem) ([]float64, [][]string) {
	score, refs := make([]float64, len(tax.Classes)), make([][]string, len(tax.Classes))
	ids := tax.IDs()
	for _, r := range e.rank(tax, ev) {
		i := slices.Index(ids, r.class)
		score[i] = float64(r.score)
		for _, m := range r.matches {
			if !slices.Contains(refs[i], m.Cite.Ref) {
				refs[i] = append(refs[i], m.Cite.Ref)
			}
		}
	}
	return score, refs
}
