package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/receipts"
	"github.com/fabriccore/assay/specialists/orchestrator"
	"github.com/google/go-cmp/cmp"
)

// world plays every owner behind the door and can err, panic or hang in any.
type world struct {
	fault string // the owner that misbehaves
	how   string // "error", "panic" or "hang"

	mu    sync.Mutex
	calls []string
	book  *receipts.Book
	stop  chan struct{}
}

var errInjected = errors.New("injected")

// at notes a call and misbehaves if it is its turn.
func (w *world) at(owner string) error {
	w.mu.Lock()
	w.calls = append(w.calls, owner)
	w.mu.Unlock()
	if w.fault != owner {
		return nil
	}
	switch w.how {
	case "panic":
		panic("injected")
	case "hang":
		<-w.stop
	}
	return errInjected
}

func (w *world) MayInvoke(string) bool { return w.at("authority") == nil }
func (w *world) Roles(string, string) ([]string, error) {
	return []string{"operator"}, w.at("agents.roles")
}
func (w *world) Policy(string, string) (contract.AssistancePolicy, error) {
	return contract.AssistancePolicy{
		Version: "1", Enabled: true, AllowedCoreAgents: []string{"fabric.x"}, AllowedTaskClasses: []contract.TaskClass{contract.TaskFailureAnalysis},
		InvocationMode: contract.InvokeOrchestratorSelected, MaxCoreAgentsPerRequest: 1, MaxReasoningRounds: 1,
		TokenCeiling: 100, LatencyMSCeiling: 100, TimeoutMSCeiling: 100,
	}, w.at("agents.policy")
}
func (w *world) Get(id string) (contract.CoreAgentDefinition, bool) {
	if id == "fabric.x" && w.at("registry") != nil {
		return contract.CoreAgentDefinition{}, false
	}
	return contract.CoreAgentDefinition{
		ID: "fabric.x", SupportedTaskClasses: []contract.TaskClass{contract.TaskFailureAnalysis}, OutputSchema: "FailureAssessment.v1",
		AllowedEvidenceSources: []string{"config"},
	}, id == "fabric.x"
}
func (w *world) CoreEnabled() bool { return w.at("switches") == nil }
func (w *world) Bind(ctx context.Context) (context.Context, func()) {
	return ctx, func() {}
}
func (w *world) InScope(contract.Caller) error { return w.at("scopes") }
func (w *world) Describe(_ context.Context, ref string) (contract.EvidenceMeta, error) {
	return contract.EvidenceMeta{Ref: ref, Source: "config", Workspace: "ws", Classification: "internal"}, w.at("evidence")
}
func (w *world) Allow(string) bool           { return w.at("limiter") == nil }
func (w *world) Claim(string) (func(), bool) { return func() {}, w.at("claims") == nil }
func (w *world) Stray() (c contract.SafetyCounters) {
	return c
}
func (w *world) StrayRecursion() {}
func (w *world) Handle(_ context.Context, a orchestrator.Assignment, b orchestrator.Book) orchestrator.Outcome {
	if w.at("delegate") != nil {
		return orchestrator.Outcome{} // no terminal status: validation must refuse it
	}
	rec, _ := contract.Encode(contract.FailureAssessment{FailureClass: "a"})
	if err := b.Receipt("specialist", map[string]string{"recommendation_sha256": contract.Sum(rec)}); err != nil {
		return orchestrator.Outcome{Status: contract.StatusFailed, Reason: contract.ReasonReceiptFailed}
	}
	return orchestrator.Outcome{Status: contract.StatusCompleted, Recommendation: rec, Specialists: a.Candidates}
}

func (w *world) gateway(t *testing.T) *Gateway {
	t.Helper()
	w.stop = make(chan struct{})
	t.Cleanup(func() { close(w.stop) })
	ledger := &receipts.Ledger{Now: time.Now, Fault: func(kind string) error { return w.at("receipt." + kind) }}
	limits := DefaultLimits()
	limits.Deadline, limits.Audit = 100*time.Millisecond, 50*time.Millisecond
	g, err := New(Parts{
		Authority: w, Agents: w, Registry: w, Switches: w, Scopes: w, Evidence: w, Limiter: w, Claims: w, Plane: w, Delegate: w,
		Open: func(id string) Book { w.book = ledger.Open(id); return w.book }, Now: time.Now, Limits: limits,
		NewTraceID: func() (string, error) { return "trace", w.at("trace_id") },
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func validRequest(t *testing.T) []byte {
	t.Helper()
	raw, err := contract.Encode(contract.GatewayRequest{
		Caller: contract.Caller{System: contract.SystemForgeAgent, AgentID: "a", AgentVersion: "1", Role: "operator", WorkspaceID: "ws", RunID: "r", BranchID: "b"},
		Task:   contract.Task{Type: contract.TaskFailureAnalysis, RequiredOutputSchema: "FailureAssessment.v1"},
		ContextManifest: contract.ContextManifest{
			EvidenceRefs: []string{"ws/e"}, AllowedSources: []string{"config"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func steps(rec contract.Record) []string {
	var out []string
	for _, e := range rec.Trace {
		out = append(out, e.Step)
	}
	return out
}

// The spy: exactly the four checks, delegate, validate, audit, and each
// delegated to its owner.
func TestF031_StepOrder(t *testing.T) {
	w := &world{}
	raw, rec := w.gateway(t).Request(context.Background(), validRequest(t))
	want := []string{
		contract.StepIdentity, contract.StepPolicy, contract.StepScope, contract.StepBudget,
		contract.StepDelegate, contract.StepValidate, contract.StepAudit,
	}
	if d := cmp.Diff(want, steps(rec)); d != "" {
		t.Errorf("%s\n%s", d, raw)
	}
	owners := []string{
		"trace_id", "authority", "agents.roles", "switches", "agents.policy", "registry", "scopes", "evidence", "limiter", "claims",
		"receipt.request", "delegate", "receipt.specialist", "receipt.response",
	}
	if d := cmp.Diff(owners, w.calls); d != "" {
		t.Error(d)
	}
}

// Whatever breaks at whichever owner: a typed response within the deadline,
// no later owner asked, and an audit unless the ledger itself is broken.
func TestF111_FaultAtEveryStep(t *testing.T) {
	order := []string{
		"trace_id", "authority", "agents.roles", "switches", "agents.policy", "registry", "scopes", "evidence", "limiter", "claims",
		"receipt.request", "delegate", "receipt.specialist", "receipt.response",
	}
	for i, owner := range order {
		for _, how := range []string{"error", "panic", "hang"} {
			if owner == "trace_id" && how != "error" {
				continue // the assembler's own randomness
			}
			t.Run(owner+"/"+how, func(t *testing.T) {
				t.Parallel()
				w := &world{fault: owner, how: how}
				g := w.gateway(t)
				start := time.Now()
				raw, rec := g.Request(context.Background(), validRequest(t))
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("took %v", took)
				}
				resp, err := contract.Decode[contract.GatewayResponse](raw)
				if err != nil {
					t.Fatal(err)
				}
				if resp.Status == contract.StatusCompleted || resp.ReasonCode == "" || string(resp.Recommendation) != "{}" || rec.Result != nil {
					t.Errorf("got %s", raw)
				}
				if !resp.NoDirectWrites {
					t.Error("no write happened")
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				for _, later := range order[i+1:] {
					if later == "receipt.response" {
						continue
					}
					if slices.Contains(w.calls, later) {
						t.Errorf("%s was asked after %s broke", later, owner)
					}
				}
				kinds := len(rec.Receipts)
				if owner != "receipt.response" && kinds == 0 {
					t.Error("no receipt")
				}
				if owner == "receipt.response" && resp.ReasonCode != contract.ReasonReceiptFailed {
					t.Errorf("reason %s", resp.ReasonCode)
				}
				if how == "panic" && i > 0 && owner != "receipt.response" && resp.ReasonCode != contract.ReasonPanic {
					t.Errorf("reason %s", resp.ReasonCode)
				}
				if how == "hang" && i > 0 && owner != "receipt.response" && (resp.Status != contract.StatusFailed || resp.ReasonCode != contract.ReasonTimeout) {
					t.Errorf("got %s %s", resp.Status, resp.ReasonCode)
				}
			})
		}
	}
}

func TestF060_ForeignRecommendationFailsClosed(t *testing.T) {
	for name, rec := range map[string]string{
		"prose":     `"it was the code"`,
		"extra key": `{"failure_class":"a","confidence":1}`,
		"broken":    `{"failure_class":`,
	} {
		out := validated(orchestrator.Outcome{Status: contract.StatusCompleted, Recommendation: json.RawMessage(rec)},
			&contract.GatewayRequest{Task: contract.Task{RequiredOutputSchema: "FailureAssessment.v1"}})
		if out.Status != contract.StatusFailed || out.Reason != contract.ReasonSchemaInvalid || out.Recommendation != nil {
			t.Errorf("%s: %+v", name, out)
		}
	}
}
