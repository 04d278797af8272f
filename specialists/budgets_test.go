package specialists_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/callableagents"
)

// greedy embeds until it is told to stop, then returns what it has.
func greedy(n int) func(context.Context, contract.Job) (contract.CoreAgentResult, error) {
	return func(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
		for range n {
			if _, err := j.Model.Embed(ctx, contract.EmbedRequest{Profile: contract.ProfileRetrievalRank, Texts: []string{"a"}}); err != nil {
				if errors.Is(err, contract.ErrBudget) {
					res := answerOf(j, contract.InsufficientEvidence)
					res.Status = contract.StatusPartial
					return res, nil
				}
				return contract.CoreAgentResult{}, err
			}
		}
		return answerOf(j, "code_defect"), nil
	}
}

func specialistOf(h func(context.Context, contract.Job) (contract.CoreAgentResult, error)) []contract.Specialist {
	return []contract.Specialist{fakeSpecialist{h}}
}

// The budgets that end a run: partial, typed, and no call after the breach.
func TestF034_BudgetsMidRun(t *testing.T) {
	slow := func(ctx context.Context, _ contract.GenerateRequest) (contract.GenerateResult, error) {
		<-ctx.Done()
		return contract.GenerateResult{}, ctx.Err()
	}
	twice := func(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
		if _, err := oneCall(ctx, j); err != nil {
			return contract.CoreAgentResult{}, err
		}
		return oneCall(ctx, j)
	}
	for _, c := range []struct {
		name   string
		model  *fakeModel
		handle func(context.Context, contract.Job) (contract.CoreAgentResult, error)
		budget contract.Budget
		calls  int64
		says   string
	}{
		{"model calls", &fakeModel{}, greedy(10), contract.Budget{}, 3, "model calls"},
		{"generative calls", &fakeModel{}, twice, contract.Budget{}, 1, "generative calls"},
		{"tokens", &fakeModel{tokens: 60}, greedy(10), contract.Budget{TokenBudget: ptr(100)}, 2, "tokens"},
		{"tokens of the last call", &fakeModel{tokens: 200}, oneCall, contract.Budget{TokenBudget: ptr(100)}, 1, "tokens"},
		{"latency", &fakeModel{gen: slow}, oneCall, contract.Budget{LatencyMSBudget: ptr(500)}, 1, "latency"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parts(c.model)
			p.Specialists = specialistOf(c.handle)
			q := request()
			q.Budget = c.budget
			resp, rec := ask(t, door(t, p), q)
			if resp.Status != contract.StatusPartial || resp.ReasonCode != contract.ReasonBudgetExhausted {
				t.Fatalf("got %s %s %v", resp.Status, resp.ReasonCode, resp.UnresolvedItems)
			}
			if !strings.Contains(strings.Join(resp.UnresolvedItems, " "), c.says) {
				t.Errorf("does not say which: %v", resp.UnresolvedItems)
			}
			if got := c.model.calls.Load(); got != c.calls || len(rec.Calls) != int(c.calls) {
				t.Errorf("%d calls, %d recorded, want %d", got, len(rec.Calls), c.calls)
			}
		})
	}
}

// The time budget: failed at the deadline, whatever the specialist does, and
// the late proposal is nowhere (F-114).
func TestF034_F114_TimeBudget(t *testing.T) {
	goOn := make(chan struct{})
	m := &fakeModel{}
	p := parts(m)
	p.Specialists = specialistOf(func(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
		<-goOn // deaf to ctx
		if _, err := oneCall(context.Background(), j); !errors.Is(err, context.Canceled) {
			t.Errorf("a call after the end: %v", err)
		}
		return answerOf(j, "code_defect"), nil
	})
	d := door(t, p)
	q := request()
	q.Budget.TimeoutMS = ptr(30)
	start := time.Now()
	resp, rec := ask(t, d, q)
	if took := time.Since(start); took > time.Second {
		t.Errorf("took %v", took)
	}
	if resp.Status != contract.StatusFailed || resp.ReasonCode != contract.ReasonTimeout || rec.Result != nil || string(resp.Recommendation) != "{}" {
		t.Errorf("got %s %s", resp.Status, resp.ReasonCode)
	}
	if d.Stuck() != 1 {
		t.Errorf("%d stuck", d.Stuck())
	}
	close(goOn)
	time.Sleep(50 * time.Millisecond)
	if m.calls.Load() != 0 {
		t.Error("the model was called after the end")
	}
}

// Fan-out and rounds are bound before dispatch; a spawn from inside is
// refused and counted.
func TestF034_FanOutAndRounds(t *testing.T) {
	for _, b := range []contract.Budget{{MaxMicroAgents: ptr(7)}, {MaxReasoningRounds: ptr(3)}, {MaxReasoningRounds: ptr(0)}, {MaxCoreAgents: ptr(4)}} {
		m, q := &fakeModel{}, request()
		q.Budget = b
		if resp, _ := ask(t, door(t, parts(m)), q); resp.Status != contract.StatusRefused || m.calls.Load() != 0 {
			t.Errorf("%s %s", resp.Status, resp.ReasonCode)
		}
	}
	p := parts(&fakeModel{})
	p.Specialists = specialistOf(func(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
		if err := (callableagents.Spawner{}).Spawn(ctx, "fabric.micro"); !errors.Is(err, callableagents.ErrRefused) {
			t.Errorf("spawn: %v", err)
		}
		return oneCall(ctx, j)
	})
	_, rec := ask(t, door(t, p), request())
	if rec.Safety.RecursionAttempts != 1 || rec.Safety.Recursions != 0 {
		t.Errorf("safety %+v", rec.Safety)
	}
}

// The trace has the ordered steps of F-052, a verdict before the first model
// call, and one specialist.
func TestF052_F035_TraceOrder(t *testing.T) {
	resp, rec := ask(t, door(t, parts(&fakeModel{})), request())
	want := []string{
		contract.StepIdentity, contract.StepPolicy, contract.StepScope, contract.StepBudget, contract.StepDelegate,
		contract.StepSufficiency, contract.StepTeam, contract.StepContext, contract.StepSchedule, contract.StepSpecialist,
		contract.StepModelCall, contract.StepReconcile, contract.StepValidate, contract.StepAudit,
	}
	if got := stepNames(rec); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if len(resp.SpecialistsUsed) != 1 {
		t.Errorf("team %v", resp.SpecialistsUsed)
	}
	var kinds []string
	for _, r := range rec.Receipts {
		kinds = append(kinds, r.Kind)
	}
	if want := []string{"request", "sufficiency", "specialist", "response"}; !slices.Equal(kinds, want) {
		t.Errorf("receipts %v", kinds)
	}
}
