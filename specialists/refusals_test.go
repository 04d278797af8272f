package specialists_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/specialists"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/agentsstore"
	"github.com/fabriccore/assay/specialists/controlplane/flags"
	"github.com/fabriccore/assay/specialists/controlplane/ratelimit"
	"github.com/fabriccore/assay/specialists/controlplane/workspacecontext"
)

func ptr(i int) *int { return &i }

func stepNames(rec contract.Record) []string {
	var out []string
	for _, e := range rec.Trace {
		out = append(out, e.Step)
	}
	return out
}

// Every refusal: its own reason, a receipt, no model call, no later step.
func TestF062_F051_F033_Refusals(t *testing.T) {
	type r = contract.GatewayRequest
	for _, c := range []struct {
		name   string
		change func(*r)
		parts  func(*specialists.Parts)
		want   contract.ReasonCode
		last   string // the step that refused
	}{
		{"a wildcard agents", func(q *r) { q.Policy.AllowedCoreAgents = []string{"*"} }, nil, contract.ReasonWildcardAgents, contract.StepPolicy},
		{"a partial wildcard", func(q *r) { q.Policy.AllowedCoreAgents = []string{"fabric.*"} }, nil, contract.ReasonWildcardAgents, contract.StepPolicy},
		{"b write access", func(q *r) { q.Policy.WriteAccess = true }, nil, contract.ReasonWriteAccess, contract.StepPolicy},
		{"c user role", func(q *r) { q.Caller.Role = "user" }, nil, contract.ReasonUnauthorizedRole, contract.StepIdentity},
		{"c unlisted role", func(q *r) { q.Caller.Role = "root" }, nil, contract.ReasonUnauthorizedRole, contract.StepIdentity},
		{"c another agent's role", func(q *r) { q.Caller.Role = "service" }, nil, contract.ReasonUnauthorizedRole, contract.StepIdentity},
		{"c user names a core agent", func(q *r) {
			q.Caller.Role, q.Policy.AllowedCoreAgents = "user", []string{"fabric.failure_investigator"}
		}, nil, contract.ReasonUnauthorizedRole, contract.StepIdentity},
		{"d tokens above ceiling", func(q *r) { q.Budget.TokenBudget = ptr(8193) }, nil, contract.ReasonOverBudget, contract.StepBudget},
		{"d fan-out above ceiling", func(q *r) { q.Budget.MaxMicroAgents = ptr(7) }, nil, contract.ReasonOverBudget, contract.StepBudget},
		{"d rounds above ceiling", func(q *r) { q.Budget.MaxReasoningRounds = ptr(3) }, nil, contract.ReasonOverBudget, contract.StepBudget},
		{"d latency above ceiling", func(q *r) { q.Budget.LatencyMSBudget = ptr(1e9) }, nil, contract.ReasonOverBudget, contract.StepBudget},
		{"d time-out above ceiling", func(q *r) { q.Budget.TimeoutMS = ptr(120001) }, nil, contract.ReasonOverBudget, contract.StepBudget},
		{"negative budget", func(q *r) { q.Budget.TokenBudget = ptr(-1) }, nil, contract.ReasonNegativeBudget, contract.StepBudget},
		{"zero budget", func(q *r) { q.Budget.TokenBudget = ptr(0) }, nil, contract.ReasonZeroBudget, contract.StepBudget},
		{"zero core agents", func(q *r) { q.Budget.MaxCoreAgents = ptr(0) }, nil, contract.ReasonZeroBudget, contract.StepBudget},
		{"e source outside allowed", func(q *r) { q.ContextManifest.AllowedSources = []string{"config"} }, nil, contract.ReasonSourceNotAllowed, contract.StepScope},
		{"e source nobody may read", func(q *r) { q.ContextManifest.AllowedSources = []string{"stage_output", "mail"} }, nil, contract.ReasonSourceNotAllowed, contract.StepScope},
		{"f cross-workspace", func(q *r) { q.ContextManifest.EvidenceRefs = []string{"ws-1/e1", "ws-2/e1"} }, nil, contract.ReasonCrossWorkspace, contract.StepScope},
		{"unknown evidence", func(q *r) { q.ContextManifest.EvidenceRefs = []string{"ws-1/e9"} }, nil, contract.ReasonUnknownEvidence, contract.StepScope},
		{"no reference", func(q *r) { q.ContextManifest.EvidenceRefs = []string{"e1"} }, nil, contract.ReasonUnknownEvidence, contract.StepScope},
		{"oversized goal", func(q *r) { q.Task.Goal = strings.Repeat("a", 16<<10); q.Task.Constraints = []string{"b"} }, nil, contract.ReasonOversized, contract.StepScope},
		{"oversized references", func(q *r) { q.ContextManifest.EvidenceRefs = slices.Repeat([]string{"ws-1/e1"}, 65) }, nil, contract.ReasonOversized, contract.StepScope},
		{"out-of-scope workspace", func(q *r) { q.Caller.WorkspaceID = "ws-9" }, nil, contract.ReasonOutOfScope, contract.StepScope},
		{"out-of-scope run", func(q *r) { q.Caller.RunID = "" }, nil, contract.ReasonOutOfScope, contract.StepScope},
		{"out-of-scope branch", func(q *r) { q.Caller.BranchID = "a/b" }, nil, contract.ReasonOutOfScope, contract.StepScope},
		{"classification", nil, func(p *specialists.Parts) {
			s := workspacecontext.New()
			s.PutClassified(workspacecontext.Restricted, p.Evidence...)
			p.Store = s
		}, contract.ReasonDataClassification, contract.StepScope},
		{"rate limit", nil, func(p *specialists.Parts) { p.Rate = ratelimit.Limit{PerSecond: 1} }, contract.ReasonRateLimited, contract.StepBudget},
		{"hosted models", func(q *r) { q.Policy.HostedModelsAllowed = true }, nil, contract.ReasonHostedModels, contract.StepPolicy},
		{"unknown agent", func(q *r) { q.Caller.AgentID = "forge.other" }, nil, contract.ReasonUnknownAgent, contract.StepIdentity},
		{"unknown version", func(q *r) { q.Caller.AgentVersion = "2.0.0" }, nil, contract.ReasonUnknownAgent, contract.StepIdentity},
		{"core agent as caller", func(q *r) { q.Caller.AgentID = "fabric.failure_investigator" }, nil, contract.ReasonRecursion, contract.StepIdentity},
		{"extra agent", func(q *r) { q.Policy.AllowedCoreAgents = []string{"fabric.builder"} }, nil, contract.ReasonAgentNotCertified, contract.StepPolicy},
		{"extra task class", func(q *r) { q.Policy.AllowedTaskClasses = []contract.TaskClass{contract.TaskAgentBuild} }, nil, contract.ReasonTaskNotCertified, contract.StepPolicy},
		{"output schema", func(q *r) { q.Task.RequiredOutputSchema = "Poem.v1" }, nil, contract.ReasonUnsupportedSchema, contract.StepScope},
		{"core switched off", nil, func(p *specialists.Parts) { p.Switches = flags.New(flags.Settings{Models: true}, "") }, contract.ReasonCoreDisabled, contract.StepPolicy},
		{"policy disabled", nil, agent(func(a *agentsstore.Agent) { a.Assistance.Enabled = false }), contract.ReasonAssistanceDisabled, contract.StepPolicy},
		{"explicit mode names none", nil, agent(func(a *agentsstore.Agent) { a.Assistance.InvocationMode = contract.InvokeExplicit }), contract.ReasonAgentNotCertified, contract.StepPolicy},
		{"certified without a specialist", func(q *r) { q.Task.Type = contract.TaskAgentBuild }, agent(func(a *agentsstore.Agent) {
			a.Assistance.AllowedTaskClasses = []contract.TaskClass{contract.TaskAgentBuild}
		}), contract.ReasonNoSpecialist, contract.StepPolicy},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, q := &fakeModel{}, request()
			p := parts(m)
			if c.change != nil {
				c.change(&q)
			}
			if c.parts != nil {
				c.parts(&p)
			}
			resp, rec := ask(t, door(t, p), q)
			if resp.Status != contract.StatusRefused || resp.ReasonCode != c.want {
				t.Fatalf("got %s %s %v, want %s", resp.Status, resp.ReasonCode, resp.UnresolvedItems, c.want)
			}
			if m.calls.Load() != 0 || len(rec.Calls) != 0 || rec.Sufficiency != nil {
				t.Error("went on after the refusal")
			}
			if len(rec.Receipts) != 1 || rec.Receipts[0].Kind != "refusal" || rec.Receipts[0].Body["reason"] != string(c.want) {
				t.Errorf("receipts %+v", rec.Receipts)
			}
			order := []string{contract.StepIdentity, contract.StepPolicy, contract.StepScope, contract.StepBudget}
			want := append(order[:slices.Index(order, c.last)+1:4], contract.StepRefusedAct, contract.StepAudit)
			if got := stepNames(rec); !slices.Equal(got, want) {
				t.Errorf("steps %v, want %v", got, want)
			}
			if strings.Contains(strings.Join(resp.UnresolvedItems, " "), "canary") {
				t.Error("a refusal shows evidence")
			}
		})
	}
}

// agent replaces the default caller by a changed one.
func agent(change func(*agentsstore.Agent)) func(*specialists.Parts) {
	return func(p *specialists.Parts) {
		a := specialists.DefaultAgent(fakeSpecialist{}.Definition())
		change(&a)
		p.Agents = []agentsstore.Agent{a}
	}
}

func TestF072_TamperedAgentRefused(t *testing.T) {
	m := &fakeModel{}
	d := door(t, parts(m))
	a := specialists.DefaultAgent(fakeSpecialist{}.Definition())
	a.Assistance.TokenCeiling = 1 << 30
	raw, err := contract.Encode(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Agents().Put(a.ID, a.Version, agentsstore.Signed{Payload: raw, Signature: make([]byte, 64)}); err != nil {
		t.Fatal(err)
	}
	q := request()
	q.Budget.TokenBudget = ptr(1 << 20)
	resp, _ := ask(t, d, q)
	if resp.Status != contract.StatusRefused || resp.ReasonCode != contract.ReasonTamperedPolicy || m.calls.Load() != 0 {
		t.Errorf("got %s %s", resp.Status, resp.ReasonCode)
	}
}

func TestF061_MalformedAndOversizedBytes(t *testing.T) {
	d := door(t, parts(&fakeModel{}))
	for raw, want := range map[string]contract.ReasonCode{
		"":                              contract.ReasonMalformed,
		"please help":                   contract.ReasonMalformed,
		`{"caller":{}}`:                 contract.ReasonMalformed,
		strings.Repeat(" ", 1<<20) + "": contract.ReasonMalformed,
		strings.Repeat(" ", 2<<20):      contract.ReasonOversized,
	} {
		resp, rec := askRaw(t, d, context.Background(), []byte(raw))
		if resp.Status != contract.StatusRefused || resp.ReasonCode != want || len(rec.Receipts) != 1 {
			t.Errorf("got %s %s for %d bytes", resp.Status, resp.ReasonCode, len(raw))
		}
	}
}

// Seven systems and nine task types, accepted or refused per policy.
func TestF061_SystemsAndTaskTypes(t *testing.T) {
	d := door(t, parts(&fakeModel{}))
	for _, sys := range []contract.System{
		contract.SystemForgeAgent, contract.SystemWeave, contract.SystemForgeStudio, contract.SystemCertification,
		contract.SystemRuntimeRecovery, contract.SystemRAG, contract.SystemConnectorMgmt,
	} {
		for _, task := range []contract.TaskClass{
			contract.TaskContextResolution, contract.TaskCapabilityMatching, contract.TaskPlanGeneration, contract.TaskFailureAnalysis,
			contract.TaskRecoveryPlanning, contract.TaskOutcomeVerification, contract.TaskAgentArchitecture, contract.TaskAgentBuild,
			contract.TaskCertificationReview,
		} {
			q := request()
			q.Caller.System, q.Task.Type = sys, task
			resp, _ := ask(t, d, q)
			if ok := task == contract.TaskFailureAnalysis; ok != (resp.Status == contract.StatusCompleted) ||
				!ok && resp.ReasonCode != contract.ReasonTaskNotCertified {
				t.Errorf("%s %s: %s %s", sys, task, resp.Status, resp.ReasonCode)
			}
		}
	}
}

func TestF051_DuplicateUnderWayAndInWindow(t *testing.T) {
	started, goOn := make(chan struct{}), make(chan struct{})
	m := &fakeModel{gen: func(context.Context, contract.GenerateRequest) (contract.GenerateResult, error) {
		close(started)
		<-goOn
		return contract.GenerateResult{Text: "code_defect"}, nil
	}}
	p := parts(m)
	p.Dedup = time.Hour
	d := door(t, p)
	first := make(chan contract.GatewayResponse)
	go func() { r, _ := ask(t, d, request()); first <- r }()
	<-started
	if r, _ := ask(t, d, request()); r.ReasonCode != contract.ReasonDuplicate {
		t.Errorf("under way: %s %s", r.Status, r.ReasonCode)
	}
	close(goOn)
	if r := <-first; r.Status != contract.StatusCompleted {
		t.Errorf("first: %s %s", r.Status, r.ReasonCode)
	}
	if r, _ := ask(t, d, request()); r.ReasonCode != contract.ReasonDuplicate {
		t.Errorf("in the window: %s %s", r.Status, r.ReasonCode)
	}
}

// F-037 and Q-30: two independent switches and the override.
func TestF037_Q30_Switches(t *testing.T) {
	for _, c := range []struct {
		s        flags.Settings
		override string
		want     contract.ReasonCode // "" = answered
	}{
		{flags.Settings{Core: true, Models: true}, "", ""},
		{flags.Settings{Core: true}, "", contract.ReasonModelsDisabled},
		{flags.Settings{Models: true}, "", contract.ReasonCoreDisabled},
		{flags.Settings{}, "", contract.ReasonCoreDisabled},
		{flags.Settings{Core: true, Models: true}, "0", contract.ReasonCoreDisabled},
		{flags.Settings{Models: true}, "1", ""},
		{flags.Settings{Core: true, Models: true, EmergencyStop: true}, "1", contract.ReasonCoreDisabled},
		{flags.Settings{Core: true, Models: true}, "perhaps", contract.ReasonCoreDisabled},
	} {
		m := &fakeModel{}
		p := parts(m)
		p.Switches = flags.New(c.s, c.override)
		resp, _ := ask(t, door(t, p), request())
		if resp.ReasonCode != c.want || (c.want != "") != (m.calls.Load() == 0) {
			t.Errorf("%+v %q: %s %s after %d calls", c.s, c.override, resp.Status, resp.ReasonCode, m.calls.Load())
		}
	}
}

func TestF033_NoCoreAgentIsVisible(t *testing.T) {
	d := door(t, parts(&fakeModel{}))
	for _, id := range d.Agents().List() {
		if strings.HasPrefix(id, "fabric.") {
			t.Errorf("%s is listed", id)
		}
	}
	if err := d.Agents().Put("fabric.x", "1", agentsstore.Signed{}); err == nil {
		t.Error("a core agent entered the agents store")
	}
}
