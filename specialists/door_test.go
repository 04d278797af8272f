package specialists_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/fabriccore/assay/specialists"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/registry"
)

// taxonomyDigest names the taxonomy of these tests.
var taxonomyDigest = contract.Sum([]byte("a taxonomy file"))

func taxonomies() map[string]contract.Taxonomy {
	return map[string]contract.Taxonomy{taxonomyDigest: {Name: "t", Version: 1, Classes: []contract.Class{
		{ID: "code_defect"}, {ID: "configuration_invalid"}, {ID: contract.InsufficientEvidence},
	}}}
}

func item(ws, id, source, text string) contract.EvidenceItem {
	s := sha256.Sum256([]byte(text))
	return contract.EvidenceItem{ID: id, Source: source, Workspace: ws, MediaType: "text/plain", Text: text, SHA256: hex.EncodeToString(s[:])}
}

// assess is a Sufficiency from a function.
type assess func() (contract.DeterministicSufficiency, error)

func (f assess) Assess(context.Context, contract.Task, contract.Taxonomy, []contract.EvidenceItem) (contract.DeterministicSufficiency, error) {
	return f()
}

func specialistRequired() (contract.DeterministicSufficiency, error) {
	t := contract.TaskFailureAnalysis
	return contract.DeterministicSufficiency{
		Verdict: contract.SufficiencySpecialistRequired, ReasonCode: contract.ReasonSpecialist, RequiredTaskClass: &t,
	}, nil
}

// fakeModel answers at once and counts.
type fakeModel struct {
	calls  atomic.Int64
	tokens int
	gen    func(context.Context, contract.GenerateRequest) (contract.GenerateResult, error)
}

func (m *fakeModel) Has(contract.Profile) bool { return true }

func (m *fakeModel) Generate(ctx context.Context, q contract.GenerateRequest) (contract.GenerateResult, error) {
	m.calls.Add(1)
	if m.gen != nil {
		return m.gen(ctx, q)
	}
	return contract.GenerateResult{Text: "code_defect", Call: contract.CallRecord{PromptTokens: m.tokens, OutputTokens: 1}}, nil
}

func (m *fakeModel) Embed(_ context.Context, q contract.EmbedRequest) (contract.EmbedResult, error) {
	m.calls.Add(1)
	return contract.EmbedResult{Vectors: make([][]float32, len(q.Texts)), Call: contract.CallRecord{PromptTokens: m.tokens}}, nil
}

// fakeSpecialist runs a function as the failure investigator.
type fakeSpecialist struct {
	handle func(context.Context, contract.Job) (contract.CoreAgentResult, error)
}

func (fakeSpecialist) Definition() contract.CoreAgentDefinition {
	r, err := specialists.Registry()
	if err != nil {
		panic(err)
	}
	d, _ := r.Get(registry.FailureInvestigator)
	return d
}

func (fakeSpecialist) Warm(context.Context, contract.Model, contract.Taxonomy) error { return nil }

func (f fakeSpecialist) Handle(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
	return f.handle(ctx, j)
}

// oneCall asks the model once and answers with its text as the class.
func oneCall(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
	g, err := j.Model.Generate(ctx, contract.GenerateRequest{Profile: contract.ProfileBalancedReason, Prompt: j.Evidence[0].Text})
	if err != nil {
		return contract.CoreAgentResult{}, err
	}
	return answerOf(j, g.Text), nil
}

func assessmentOf(class, ref string) contract.FailureAssessment {
	return contract.FailureAssessment{
		FailureClass: class,
		RootCauseHypotheses: []contract.Hypothesis{{
			Cause: "the stage says so", EvidenceRefs: []string{ref}, FailureClass: class,
		}},
		Evidence:   []contract.EvidenceCite{{Ref: ref, Line: 1}},
		Provenance: []contract.Provenance{{Step: "generate", Source: "balanced_reason", Digest: "sha256:00"}},
	}
}

func answerOf(j contract.Job, class string) contract.CoreAgentResult {
	rec, _ := contract.Encode(assessmentOf(class, j.Evidence[0].Ref()))
	return contract.CoreAgentResult{
		CoreAgentID: registry.FailureInvestigator, Version: "1.0.0", Status: contract.StatusCompleted, Recommendation: rec,
		Evidence: []contract.EvidenceCite{{Ref: j.Evidence[0].Ref(), Line: 1}},
	}
}

func request() contract.GatewayRequest {
	return contract.GatewayRequest{
		Caller: contract.Caller{
			System: contract.SystemForgeAgent, Component: "run_typed_agent", AgentID: specialists.CallerAgent,
			AgentVersion: specialists.CallerVersion, Role: specialists.CallerRole, WorkspaceID: "ws-1", RunID: "run-1", BranchID: "main",
		},
		Task: contract.Task{
			Type: contract.TaskFailureAnalysis, Goal: "why did it fail", RequiredOutputSchema: "FailureAssessment.v1", TaxonomyDigest: taxonomyDigest,
		},
		ContextManifest: contract.ContextManifest{EvidenceRefs: []string{"ws-1/e1"}, AllowedSources: []string{"stage_output", "config"}},
	}
}

// parts are a door over one workspace with one item and a fake specialist.
func parts(m *fakeModel) specialists.Parts {
	return specialists.Parts{
		Model: m, ModelRoute: "fake", Sufficiency: assess(specialistRequired), Taxonomies: taxonomies(),
		Specialists: []contract.Specialist{fakeSpecialist{oneCall}},
		Evidence: []contract.EvidenceItem{
			item("ws-1", "e1", "stage_output", "exit status 1"), item("ws-2", "e1", "stage_output", "canary of another workspace"),
		},
	}
}

func door(t testing.TB, p specialists.Parts) *specialists.Door {
	t.Helper()
	d, err := specialists.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// ask sends a request and checks what holds for every answer.
func ask(t testing.TB, d *specialists.Door, req contract.GatewayRequest) (contract.GatewayResponse, contract.Record) {
	t.Helper()
	raw, err := contract.Encode(req)
	if err != nil {
		t.Fatal(err)
	}
	return askRaw(t, d, context.Background(), raw)
}

func askRaw(t testing.TB, d *specialists.Door, ctx context.Context, raw []byte) (contract.GatewayResponse, contract.Record) {
	t.Helper()
	out, rec := d.Request(ctx, raw)
	resp, err := contract.Decode[contract.GatewayResponse](out)
	if err != nil {
		t.Fatalf("invalid response: %v\n%s", err, out)
	}
	if err := contract.VerifyChain(rec.Receipts); err != nil && resp.ReasonCode != contract.ReasonReceiptFailed {
		t.Errorf("receipts: %v", err)
	}
	return resp, rec
}

func TestF111_DoorAnswers(t *testing.T) {
	m := &fakeModel{tokens: 10}
	resp, rec := ask(t, door(t, parts(m)), request())
	if resp.Status != contract.StatusCompleted || !resp.NoDirectWrites || m.calls.Load() != 1 {
		t.Fatalf("got %s %s %v after %d calls", resp.Status, resp.ReasonCode, resp.UnresolvedItems, m.calls.Load())
	}
	var a contract.FailureAssessment
	if err := json.Unmarshal(resp.Recommendation, &a); err != nil || a.FailureClass != "code_defect" {
		t.Errorf("recommendation %s", resp.Recommendation)
	}
	if resp.Metrics.ModelCalls != 1 || resp.Metrics.GenerativeCalls != 1 || resp.Metrics.TokenUsage != 11 || resp.Metrics.ModelRoute != "fake" {
		t.Errorf("metrics %+v", resp.Metrics)
	}
	if rec.Digest == nil || rec.Sufficiency == nil || rec.Result == nil || rec.Safety != (contract.SafetyCounters{}) {
		t.Errorf("record %+v", rec)
	}
}
