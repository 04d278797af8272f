package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/fabriccore/assay/specialists/contract"
)

// work runs one specialist under its budgets and reconciles what it returns.
func (r *run) work(ctx context.Context, def contract.CoreAgentDefinition, agent contract.Specialist, ev []contract.EvidenceItem, digest contract.ContextPolicyDigest) Outcome {
	m := newMeter(ctx, r, def)
	r.book.Step(contract.StepSpecialist, map[string]string{"id": def.ID, "version": def.Version})
	res, err := runSpecialist(ctx, agent, contract.Job{
		Task: r.a.Request.Task, Taxonomy: r.tax, TaxonomyDigest: r.a.Request.Task.TaxonomyDigest, Evidence: ev, Model: m,
	})
	m.close()
	out := r.reconcile(def, res, err, m)
	r.book.Step(contract.StepReconcile, map[string]string{"status": string(out.Status), "reason": string(out.Reason)})
	if ctx.Err() != nil {
		return failed(contract.ReasonTimeout, "") // the gateway says which end it was
	}
	calls, tokens := m.used()
	if err := r.book.Receipt("specialist", map[string]string{
		"core_agent_id": def.ID, "version": def.Version, "status": string(out.Status), "reason": string(out.Reason),
		"digest": digest.Digest, "model_calls": strconv.Itoa(calls), "tokens": strconv.Itoa(tokens),
		"recommendation_sha256": recommendationSum(out.Recommendation),
	}); err != nil {
		return failed(contract.ReasonReceiptFailed, "")
	}
	return out
}

// runSpecialist is the only call into a specialist. A panic is an error.
//
//go:noinline
func runSpecialist(ctx context.Context, s contract.Specialist, j contract.Job) (res contract.CoreAgentResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &contract.Fault{Reason: contract.ReasonPanic, Err: fmt.Errorf("specialist panicked: %v\n%s", p, debug.Stack())}
		}
	}()
	return s.Handle(ctx, j)
}

// specialistFrame is where runSpecialist begins, as it is found on a stack.
var specialistFrame = reflect.ValueOf(runSpecialist).Pointer()

// OnStack reports whether the calling goroutine is inside a specialist. It
// sees a specialist that hides its context; one that also starts a goroutine
// of its own is held by having no handle to the door at all.
func OnStack() bool {
	var pcs [32]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for _, pc := range pcs[:n] {
			if f := runtime.FuncForPC(pc - 1); f != nil && f.Entry() == specialistFrame {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

// reconcile turns result, error and spent budgets into the outcome: schema,
// policy and evidence checks first, measured signals after.
func (r *run) reconcile(def contract.CoreAgentDefinition, res contract.CoreAgentResult, err error, m *meter) Outcome {
	breach := m.breached()
	if err != nil {
		if breach != "" || errors.Is(err, contract.ErrBudget) {
			return r.partial(def, breach)
		}
		o := failed(contract.ReasonOf(err, m.failure()), firstLine(err))
		o.Specialists = []string{def.ID}
		return o
	}
	out := r.accept(def, res)
	out.Specialists = []string{def.ID}
	switch {
	case breach != "" && out.Status == contract.StatusFailed:
		return r.partial(def, breach)
	case breach != "":
		out.Status, out.Reason = contract.StatusPartial, contract.ReasonBudgetExhausted
		out.Unresolved = append(slices.Clone(out.Unresolved), "budget exhausted: "+breach)
	}
	return out
}

// partial is the typed result of a run that a budget ended without an answer.
func (r *run) partial(def contract.CoreAgentDefinition, breach string) Outcome {
	if breach == "" {
		breach = "unnamed"
	}
	return Outcome{
		Status: contract.StatusPartial, Reason: contract.ReasonBudgetExhausted,
		Unresolved: []string{"budget exhausted: " + breach}, Specialists: []string{def.ID}, ModelRoute: r.p.ModelRoute,
	}
}

// accept checks a result and takes over what may cross the boundary.
func (r *run) accept(def contract.CoreAgentDefinition, res contract.CoreAgentResult) Outcome {
	envelope := res
	envelope.Recommendation = nil // held to its own schema below
	if err := contract.Valid(envelope); err != nil {
		return failed(contract.ReasonSchemaInvalid, err.Error())
	}
	res = contract.Filled(res)
	if res.CoreAgentID != def.ID || res.Version != def.Version {
		return failed(contract.ReasonSchemaInvalid, "the result names another core agent")
	}
	if res.Status == contract.StatusFailed {
		return failed(contract.ReasonModelError, strings.Join(res.UnresolvedQuestions, "; "))
	}
	if err := r.within(res.Evidence); err != nil {
		return failed(contract.ReasonForeignEvidence, err.Error())
	}
	a, reason, err := r.assessment(res.Recommendation)
	if err != nil {
		return failed(reason, err.Error())
	}
	rec, err := contract.Encode(a)
	if err != nil {
		return failed(contract.ReasonSchemaInvalid, err.Error())
	}
	res.Recommendation = rec
	res.ConfidenceInputs = measured(res.ConfidenceInputs)
	out := Outcome{
		Status: res.Status, Recommendation: rec, Evidence: res.Evidence, Assumptions: union(res.Assumptions, a.Assumptions),
		Conflicts: res.UnresolvedConflicts, Unresolved: union(res.UnresolvedQuestions, a.UnresolvedQuestions),
		Signals: r.signals(res, a), ModelRoute: r.p.ModelRoute, Result: &res,
	}
	if a.FailureClass == contract.InsufficientEvidence {
		out.Reason = contract.ReasonAbstained
		if slices.Contains(res.RiskFlags, string(contract.ReasonAbstainedLowAgree)) {
			out.Reason = contract.ReasonAbstainedLowAgree
		}
	}
	return out
}

// assessment decodes a FailureAssessment and holds it to the taxonomy and to
// the request's evidence.
func (r *run) assessment(raw []byte) (contract.FailureAssessment, contract.ReasonCode, error) {
	a, err := contract.Decode[contract.FailureAssessment](raw)
	if err != nil {
		return a, contract.ReasonSchemaInvalid, err
	}
	if !r.tax.Has(a.FailureClass) {
		return a, contract.ReasonClassOutside, errors.New("failure_class is not in the taxonomy")
	}
	if err := r.within(a.Evidence); err != nil {
		return a, contract.ReasonForeignEvidence, err
	}
	for i := range a.RootCauseHypotheses {
		h := &a.RootCauseHypotheses[i]
		if h.FailureClass != "" && !r.tax.Has(h.FailureClass) {
			return a, contract.ReasonClassOutside, fmt.Errorf("failure_class of hypothesis %d is not in the taxonomy", i)
		}
		for _, ref := range h.EvidenceRefs {
			if !slices.Contains(r.a.Request.ContextManifest.EvidenceRefs, ref) {
				return a, contract.ReasonForeignEvidence, fmt.Errorf("hypothesis %d cites evidence outside the request", i)
			}
		}
		h.ConfidenceInputs = measured(h.ConfidenceInputs)
	}
	return a, "", nil
}

func (r *run) within(cites []contract.EvidenceCite) error {
	for i, c := range cites {
		if !slices.Contains(r.a.Request.ContextManifest.EvidenceRefs, c.Ref) {
			return fmt.Errorf("evidence %d is outside the request", i)
		}
	}
	return nil
}

// signals adds what the orchestrator measured itself; its own names win.
func (r *run) signals(res contract.CoreAgentResult, a contract.FailureAssessment) contract.ConfidenceInputs {
	out := contract.ConfidenceInputs{}
	for k, v := range res.ConfidenceInputs {
		out[k] = v
	}
	cited := map[string]bool{}
	for _, h := range a.RootCauseHypotheses {
		for _, ref := range h.EvidenceRefs {
			cited[ref] = true
		}
	}
	out["schema_adherence"] = 1
	out["policy_compliance"] = 1
	out["evidence_cited"] = float64(len(cited)) / float64(len(r.ev))
	out["provenance"] = float64(btoi(len(a.Provenance) > 0))
	return out
}

// measured drops everything that is named like a model's word about itself,
// so that it can reach no gate, ranking or report (F-036).
func measured(in contract.ConfidenceInputs) contract.ConfidenceInputs {
	out := make(contract.ConfidenceInputs, len(in))
	for k, v := range in {
		l := strings.ToLower(k)
		if strings.Contains(l, "confiden") || strings.Contains(l, "certain") || strings.HasPrefix(l, "self") {
			continue
		}
		out[k] = v
	}
	return out
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}

// recommendationSum is the hash under which receipts name a recommendation;
// an empty one has none.
func recommendationSum(raw []byte) string {
	if len(raw) == 0 || string(raw) == "{}" {
		return ""
	}
	return contract.Sum(raw)
}
