package specialists_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fabriccore/assay/specialists"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/receipts"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What a specialist may return and what becomes of it.
func TestF060_F066_F067_SpecialistResults(t *testing.T) {
	result := func(change func(*contract.CoreAgentResult)) func(context.Context, contract.Job) (contract.CoreAgentResult, error) {
		return func(_ context.Context, j contract.Job) (contract.CoreAgentResult, error) {
			r := answerOf(j, "code_defect")
			change(&r)
			return r, nil
		}
	}
	recommend := func(a contract.FailureAssessment) func(*contract.CoreAgentResult) {
		return func(r *contract.CoreAgentResult) { r.Recommendation, _ = contract.Encode(a) }
	}
	fails := func(err error) func(context.Context, contract.Job) (contract.CoreAgentResult, error) {
		return func(context.Context, contract.Job) (contract.CoreAgentResult, error) {
			return contract.CoreAgentResult{}, err
		}
	}
	for name, c := range map[string]struct {
		handle func(context.Context, contract.Job) (contract.CoreAgentResult, error)
		status contract.Status
		reason contract.ReasonCode
	}{
		"fine":             {result(func(*contract.CoreAgentResult) {}), contract.StatusCompleted, ""},
		"abstains":         {result(recommend(assessmentOf(contract.InsufficientEvidence, "ws-1/e1"))), contract.StatusCompleted, contract.ReasonAbstained},
		"class outside":    {result(recommend(assessmentOf("gremlins", "ws-1/e1"))), contract.StatusFailed, contract.ReasonClassOutside},
		"foreign evidence": {result(recommend(assessmentOf("code_defect", "ws-2/e1"))), contract.StatusFailed, contract.ReasonForeignEvidence},
		"foreign citation": {result(func(r *contract.CoreAgentResult) { r.Evidence[0].Ref = "ws-2/e1" }), contract.StatusFailed, contract.ReasonForeignEvidence},
		"prose": {result(func(r *contract.CoreAgentResult) { r.Recommendation = []byte(`"it was the code"`) }),
			contract.StatusFailed, contract.ReasonSchemaInvalid},
		"broken JSON":   {result(func(r *contract.CoreAgentResult) { r.Recommendation = []byte(`{`) }), contract.StatusFailed, contract.ReasonSchemaInvalid},
		"another agent": {result(func(r *contract.CoreAgentResult) { r.CoreAgentID = "fabric.other" }), contract.StatusFailed, contract.ReasonSchemaInvalid},
		"no status":     {result(func(r *contract.CoreAgentResult) { r.Status = "" }), contract.StatusFailed, contract.ReasonSchemaInvalid},
		"failed": {result(func(r *contract.CoreAgentResult) { r.Status = contract.StatusFailed }),
			contract.StatusFailed, contract.ReasonModelError},
		"nothing":   {fails(nil), contract.StatusFailed, contract.ReasonSchemaInvalid},
		"error":     {fails(errors.New("model went away")), contract.StatusFailed, contract.ReasonModelError},
		"truncated": {fails(&contract.Fault{Reason: contract.ReasonTruncated, Err: errors.New("x")}), contract.StatusFailed, contract.ReasonTruncated},
		"panic":     {func(context.Context, contract.Job) (contract.CoreAgentResult, error) { panic("x") }, contract.StatusFailed, contract.ReasonPanic},
		"profile it may not use": {func(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
			_, err := j.Model.Generate(ctx, contract.GenerateRequest{Profile: contract.ProfileDeepPlan})
			return contract.CoreAgentResult{}, err
		}, contract.StatusFailed, contract.ReasonModelError},
	} {
		t.Run(name, func(t *testing.T) {
			p := parts(&fakeModel{})
			p.Specialists = specialistOf(c.handle)
			resp, rec := ask(t, door(t, p), request())
			if resp.Status != c.status || resp.ReasonCode != c.reason {
				t.Fatalf("got %s %s %v", resp.Status, resp.ReasonCode, resp.UnresolvedItems)
			}
			if failed := c.status == contract.StatusFailed; failed != (string(resp.Recommendation) == "{}") || failed != (rec.Result == nil) {
				t.Errorf("recommendation %s", resp.Recommendation)
			}
			if rec.Safety.UntracedAnswers != 0 {
				t.Error("untraced")
			}
		})
	}
}

func TestF035_F064_ResolvedAndBlocked(t *testing.T) {
	canonical, _ := contract.Encode(assessmentOf("code_defect", "ws-1/e1"))
	rec := json.RawMessage(strings.Replace(string(canonical), "{", "{ ", 1)) // a rule engine need not write canonically
	foreign, _ := contract.Encode(assessmentOf("gremlins", "ws-1/e1"))
	task := contract.TaskFailureAnalysis
	verdict := func(d contract.DeterministicSufficiency, err error) func(*specialists.Parts) {
		return func(p *specialists.Parts) {
			p.Sufficiency = assess(func() (contract.DeterministicSufficiency, error) { return d, err })
		}
	}
	for name, c := range map[string]struct {
		parts  func(*specialists.Parts)
		change func(*contract.GatewayRequest)
		status contract.Status
		reason contract.ReasonCode
	}{
		"resolved": {verdict(contract.DeterministicSufficiency{Verdict: contract.SufficiencyResolved, ReasonCode: "signature", ResolvedResult: rec}, nil), nil,
			contract.StatusCompleted, contract.ReasonResolved},
		"resolved outside the taxonomy": {verdict(contract.DeterministicSufficiency{Verdict: contract.SufficiencyResolved, ReasonCode: "signature", ResolvedResult: foreign}, nil), nil,
			contract.StatusFailed, contract.ReasonClassOutside},
		"blocked": {verdict(contract.DeterministicSufficiency{Verdict: contract.SufficiencyBlocked, ReasonCode: "conflicting_records"}, nil), nil,
			contract.StatusFailed, "conflicting_records"},
		"no verdict": {verdict(contract.DeterministicSufficiency{}, nil), nil, contract.StatusFailed, contract.ReasonSchemaInvalid},
		"blocked with a class": {verdict(contract.DeterministicSufficiency{Verdict: contract.SufficiencyBlocked, ReasonCode: "x", RequiredTaskClass: &task}, nil), nil,
			contract.StatusFailed, contract.ReasonSchemaInvalid},
		"error": {verdict(contract.DeterministicSufficiency{}, errors.New("x")), nil, contract.StatusFailed, contract.ReasonPanic},
		"no evidence": {func(*specialists.Parts) {}, func(q *contract.GatewayRequest) { q.ContextManifest.EvidenceRefs = nil },
			contract.StatusFailed, contract.ReasonEvidenceEmpty},
		"unknown taxonomy": {func(*specialists.Parts) {}, func(q *contract.GatewayRequest) { q.Task.TaxonomyDigest = contract.Sum(nil) },
			contract.StatusFailed, contract.ReasonUnknownTaxonomy},
		"changed evidence": {func(p *specialists.Parts) { p.Evidence[0].Text += "!" }, nil, contract.StatusFailed, contract.ReasonEvidenceCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			m, q := &fakeModel{}, request()
			p := parts(m)
			c.parts(&p)
			if c.change != nil {
				c.change(&q)
			}
			resp, rec := ask(t, door(t, p), q)
			if resp.Status != c.status || resp.ReasonCode != c.reason {
				t.Errorf("got %s %s %v", resp.Status, resp.ReasonCode, resp.UnresolvedItems)
			}
			if rec.Safety.UntracedAnswers != 0 {
				t.Error("the answer is not traceable")
			}
			if m.calls.Load() != 0 || len(resp.SpecialistsUsed) != 0 {
				t.Error("a model was called")
			}
			if (rec.Sufficiency == nil) == slices.Contains([]string{"resolved", "resolved outside the taxonomy", "blocked", "no evidence", "unknown taxonomy", "changed evidence"}, name) {
				t.Errorf("sufficiency %+v", rec.Sufficiency)
			}
		})
	}
}

// Vary what a model says about itself: nothing changes but what it can't.
func TestF036_SelfReportedConfidenceChangesNothing(t *testing.T) {
	var first contract.GatewayResponse
	var digest, receipt string
	for i, conf := range []float64{0, 0.25, 1} {
		p := parts(&fakeModel{})
		p.Specialists = specialistOf(func(_ context.Context, j contract.Job) (contract.CoreAgentResult, error) {
			r := answerOf(j, "code_defect")
			a := assessmentOf("code_defect", "ws-1/e1")
			a.RootCauseHypotheses[0].ConfidenceInputs = contract.ConfidenceInputs{"confidence": conf, "retrieval_agreement": 0.5}
			r.Recommendation, _ = contract.Encode(a)
			r.ConfidenceInputs = contract.ConfidenceInputs{"model_confidence": conf, "self_score": conf, "retrieval_agreement": 0.5}
			return r, nil
		})
		resp, rec := ask(t, door(t, p), request())
		sum := rec.Receipts[2].Body["recommendation_sha256"]
		if i == 0 {
			first, digest, receipt = resp, rec.Digest.Digest, sum
			if _, ok := resp.ConfidenceInputs["retrieval_agreement"]; !ok || sum == "" {
				t.Errorf("signals %v", resp.ConfidenceInputs)
			}
			continue
		}
		if d := cmp.Diff(first, resp, cmpopts.IgnoreFields(contract.GatewayResponse{}, "TraceID", "Metrics")); d != "" {
			t.Error(d)
		}
		if rec.Digest.Digest != digest || sum != receipt {
			t.Error("the digest or the receipt changed")
		}
	}
}

func TestF065_F084_DigestAndReceiptsVerify(t *testing.T) {
	d := door(t, parts(&fakeModel{}))
	resp, rec := ask(t, d, request())
	if err := contract.VerifyDigest(*rec.Digest, d.PublicKey()); err != nil {
		t.Error(err)
	}
	if c := rec.Digest.Components; c.EvidenceRefs[0] != "ws-1/e1" || c.CapabilityVersions["fabric.failure_investigator"] != "1.0.0" {
		t.Errorf("components %+v", c)
	}
	_, other, _ := ed25519.GenerateKey(nil)
	if contract.VerifyDigest(*rec.Digest, other.Public().(ed25519.PublicKey)) == nil {
		t.Error("verifies with another key")
	}
	last := rec.Receipts[len(rec.Receipts)-1]
	if last.Body["recommendation_sha256"] != contract.Sum(resp.Recommendation) || last.TraceID != resp.TraceID {
		t.Errorf("the response is not traceable: %+v", last)
	}
}

func TestDoorIsConcurrent(t *testing.T) {
	p := parts(&fakeModel{})
	p.Ledger = &receipts.Ledger{}
	d := door(t, p)
	var wg sync.WaitGroup
	seen := sync.Map{}
	for i := range 64 {
		wg.Go(func() {
			q := request()
			q.Caller.RunID = fmt.Sprint("run-", i)
			resp, rec := ask(t, d, q)
			if resp.Status != contract.StatusCompleted || len(rec.Receipts) != 4 {
				t.Errorf("%s %s", resp.Status, resp.ReasonCode)
			}
			if _, twice := seen.LoadOrStore(resp.TraceID, true); twice {
				t.Error("trace id stands twice")
			}
		})
	}
	wg.Wait()
}
