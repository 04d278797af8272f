package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/orchestrator"
)

// validated holds an outcome to the schema that the request demands; one that
// does not fit fails closed and loses its recommendation (F-060).
func validated(out orchestrator.Outcome, req *contract.GatewayRequest) orchestrator.Outcome {
	bad := func(why string) orchestrator.Outcome {
		o := ended(contract.StatusFailed, contract.ReasonSchemaInvalid, why)
		o.Specialists = out.Specialists
		return o
	}
	switch out.Status {
	case contract.StatusCompleted, contract.StatusPartial, contract.StatusFailed:
	default:
		return bad("the outcome has no terminal status")
	}
	if out.Status == contract.StatusCompleted && empty(out.Recommendation) {
		return bad("a completed outcome has no recommendation")
	}
	if out.Status == contract.StatusFailed {
		out.Recommendation, out.Result = nil, nil
	}
	if !empty(out.Recommendation) {
		if err := fits(req.Task.RequiredOutputSchema, out.Recommendation); err != nil {
			return bad(err.Error())
		}
	}
	envelope := shape(out, "validate")
	envelope.Recommendation = nil // held to its own schema above
	if err := contract.Valid(envelope); err != nil {
		return bad(err.Error())
	}
	return out
}

// fits checks a recommendation against the output schema it was asked in.
func fits(schema string, raw []byte) error {
	switch schema {
	case contract.SchemaName[contract.FailureAssessment]():
		return contract.Check[contract.FailureAssessment](raw)
	default:
		return fmt.Errorf("output schema %q can not be checked", schema)
	}
}

func empty(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "{}" }

// shape puts an outcome into the response.
func shape(o orchestrator.Outcome, trace string) contract.GatewayResponse {
	return contract.GatewayResponse{
		Status: o.Status, Recommendation: o.Recommendation, Evidence: o.Evidence, Assumptions: o.Assumptions,
		Conflicts: o.Conflicts, UnresolvedItems: o.Unresolved, ConfidenceInputs: o.Signals, SpecialistsUsed: o.Specialists,
		TraceID: trace, ReasonCode: o.Reason,
	}
}

// answer audits an outcome and writes the one response. Without an audit
// there is no answer: a receipt that can't be written fails the request.
func (v *visit) answer(out orchestrator.Outcome, _ string) ([]byte, contract.Record) {
	v.book.Step(contract.StepAudit, map[string]string{"status": string(out.Status), "reason": string(out.Reason)})
	safety := v.safety()
	if safety.Writes > 0 {
		// A write got through from inside the layer: its proposal is void.
		out = voided(out, contract.ReasonWriteAttempted)
	}
	sum := ""
	if !empty(out.Recommendation) {
		sum = contract.Sum(out.Recommendation)
	}
	kind := "response"
	if out.Status == contract.StatusRefused {
		kind = "refusal"
	}
	audited := v.audit(kind, map[string]string{
		"status": string(out.Status), "reason": string(out.Reason), "request_sha256": v.rawSum, "recommendation_sha256": sum,
		"no_direct_writes": fmt.Sprint(safety.Writes == 0),
	})
	if !audited {
		out = voided(out, contract.ReasonReceiptFailed)
	}
	rec := v.book.Seal()
	rec.Safety = v.safety()
	rec.Result = out.Result
	if !empty(out.Recommendation) && !resolvable(rec.Receipts, contract.Sum(out.Recommendation)) {
		rec.Safety.UntracedAnswers++
	}
	resp := shape(out, v.trace)
	resp.NoDirectWrites = rec.Safety.Writes == 0
	resp.Metrics = v.metrics(rec.Calls, out.ModelRoute)
	raw, err := contract.Encode(resp)
	if err != nil {
		resp = shape(voided(out, contract.ReasonSchemaInvalid), v.trace)
		resp.NoDirectWrites, resp.Metrics = rec.Safety.Writes == 0, v.metrics(rec.Calls, "")
		rec.Result = nil
		raw, _ = contract.Encode(resp) // strings and numbers only
	}
	return raw, rec
}

// voided keeps only that and why a request failed.
func voided(out orchestrator.Outcome, r contract.ReasonCode) orchestrator.Outcome {
	o := ended(contract.StatusFailed, r, "")
	o.Specialists = out.Specialists
	return o
}

// audit writes the last receipt within its own time; a ledger that errs,
// hangs or panics has not written it.
func (v *visit) audit(kind string, body map[string]string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), v.p.Limits.Audit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("ledger panicked: %v", p)
			}
		}()
		done <- v.book.Receipt(kind, body)
	}()
	select {
	case err := <-done:
		return err == nil
	case <-ctx.Done():
		return false
	}
}

// resolvable reports whether the receipts lead from the request's last one to
// the recommendation (F-084).
func resolvable(rs []contract.Receipt, sum string) bool {
	if len(rs) == 0 {
		return false
	}
	made := slices.ContainsFunc(rs, func(r contract.Receipt) bool {
		return (r.Kind == "specialist" || r.Kind == "sufficiency") && r.Body["recommendation_sha256"] == sum
	})
	last := rs[len(rs)-1]
	return made && last.Kind == "response" && last.Body["recommendation_sha256"] == sum
}

// safety reads the request's own counters and what was tried meanwhile
// without a session, which no request can be cleared of.
func (v *visit) safety() contract.SafetyCounters {
	own := v.tally.Counters()
	now := v.p.Plane.Stray()
	own.Writes += now.Writes - v.stray.Writes
	own.WriteAttempts += now.WriteAttempts - v.stray.WriteAttempts
	own.ApprovalBypasses += now.ApprovalBypasses - v.stray.ApprovalBypasses
	own.ApprovalAttempts += now.ApprovalAttempts - v.stray.ApprovalAttempts
	own.RecursionAttempts += now.RecursionAttempts - v.stray.RecursionAttempts
	own.Recursions += now.Recursions - v.stray.Recursions
	return own
}

// metrics measures one request; what is not model time is the gateway's.
func (v *visit) metrics(calls []contract.CallRecord, route string) contract.Metrics {
	total := v.p.Now().Sub(v.start)
	m := contract.Metrics{ModelRoute: route}
	var model time.Duration
	for _, c := range calls {
		model += c.Timing.Wait + c.Timing.Total
		m.TokenUsage += c.PromptTokens + c.OutputTokens
		m.ModelCalls++
		if c.Kind == contract.CallGenerate {
			m.GenerativeCalls++
		}
	}
	m.LatencyMS = ms(max(0, total))
	m.GatewayMS = ms(max(0, total-model))
	return m
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
