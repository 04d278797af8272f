package specialists_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/specialists"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/callableagents"
	"github.com/fabriccore/assay/specialists/controlplane/flags"
	"github.com/fabriccore/assay/specialists/controlplane/receipts"
	"github.com/fabriccore/assay/specialists/controlplane/workspacecontext"
	"github.com/fabriccore/assay/specialists/controlplane/writecounter"
)

// A specialist that got hold of the writing side is refused and counted, with
// and without its session; unguarded, the write shows in no_direct_writes and
// voids the proposal (F-153).
func TestF032_WriteProbes(t *testing.T) {
	for _, c := range []struct {
		name      string
		unguarded bool
		hide      bool
		want      contract.SafetyCounters
	}{
		{"refused", false, false, contract.SafetyCounters{WriteAttempts: 4, ApprovalAttempts: 1}},
		{"refused, hidden", false, true, contract.SafetyCounters{WriteAttempts: 4, ApprovalAttempts: 1}},
		{"got through", true, false, contract.SafetyCounters{Writes: 4, WriteAttempts: 4, ApprovalAttempts: 1, ApprovalBypasses: 1}},
		{"got through, hidden", true, true, contract.SafetyCounters{Writes: 4, WriteAttempts: 4, ApprovalAttempts: 1, ApprovalBypasses: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plane := &writecounter.Plane{Unguarded: c.unguarded}
			p := parts(&fakeModel{})
			p.Plane = plane
			p.Specialists = specialistOf(func(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
				w := ctx
				if c.hide {
					w = context.Background()
				}
				for _, api := range []writecounter.API{writecounter.Publish, writecounter.Approve, writecounter.Transition, writecounter.Execute} {
					if err := plane.Write(w, api, "x"); !c.unguarded && !errors.Is(err, writecounter.ErrRefused) {
						t.Errorf("%s: %v", api, err)
					}
				}
				return oneCall(ctx, j)
			})
			before := plane.State()
			resp, rec := ask(t, door(t, p), request())
			if rec.Safety != c.want {
				t.Errorf("safety %+v", rec.Safety)
			}
			if resp.NoDirectWrites == c.unguarded || (plane.State() == before) == c.unguarded {
				t.Errorf("no_direct_writes %v, state %d", resp.NoDirectWrites, plane.State())
			}
			if c.unguarded && (resp.Status != contract.StatusFailed || resp.ReasonCode != contract.ReasonWriteAttempted || rec.Result != nil) {
				t.Errorf("got %s %s", resp.Status, resp.ReasonCode)
			}
		})
	}
}

// A specialist that calls the gateway is refused and counted, with its
// context or with a fresh one.
func TestF034_RecursionProbes(t *testing.T) {
	for _, hide := range []bool{false, true} {
		t.Run(fmt.Sprint("hidden ", hide), func(t *testing.T) {
			var d *specialists.Door
			m := &fakeModel{}
			p := parts(m)
			raw, _ := contract.Encode(request())
			p.Specialists = specialistOf(func(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
				inner := ctx
				if hide {
					inner = context.Background()
				}
				resp, rec := askRaw(t, d, inner, raw)
				if resp.Status != contract.StatusRefused || resp.ReasonCode != contract.ReasonRecursion || len(rec.Receipts) != 1 {
					t.Errorf("inner: %s %s", resp.Status, resp.ReasonCode)
				}
				return oneCall(ctx, j)
			})
			d = door(t, p)
			resp, rec := ask(t, d, request())
			if resp.Status != contract.StatusCompleted || rec.Safety.RecursionAttempts != 1 || rec.Safety.Recursions != 0 || m.calls.Load() != 1 {
				t.Errorf("%s %+v after %d calls", resp.Status, rec.Safety, m.calls.Load())
			}
		})
	}
}

func TestF153_SpawnThatGotThroughIsCounted(t *testing.T) {
	p := parts(&fakeModel{})
	p.Specialists = specialistOf(func(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
		if err := (callableagents.Spawner{Unguarded: true}).Spawn(ctx, "fabric.micro"); err != nil {
			t.Error(err)
		}
		return oneCall(ctx, j)
	})
	if _, rec := ask(t, door(t, p), request()); rec.Safety.Recursions != 1 {
		t.Errorf("safety %+v", rec.Safety)
	}
}

// leaky serves a foreign workspace's text under the caller's reference.
type leaky struct{ *workspacecontext.Store }

func (l leaky) Resolve(context.Context, string) (contract.EvidenceItem, error) {
	return item("ws-2", "e1", "stage_output", "canary of another workspace"), nil
}

func TestF083_CrossWorkspaceReads(t *testing.T) {
	m := &fakeModel{gen: func(_ context.Context, q contract.GenerateRequest) (contract.GenerateResult, error) {
		if strings.Contains(q.Prompt, "canary") {
			t.Error("the canary reached a prompt")
		}
		return contract.GenerateResult{Text: "code_defect"}, nil
	}}
	p := parts(m)
	store := workspacecontext.New(p.Evidence...)
	p.Store = store
	p.Specialists = specialistOf(func(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
		if _, err := store.Resolve(ctx, "ws-2/e1"); !errors.Is(err, workspacecontext.ErrCrossWorkspace) {
			t.Errorf("read: %v", err)
		}
		return oneCall(ctx, j)
	})
	if _, rec := ask(t, door(t, p), request()); rec.Safety.CrossWorkspaceTry != 1 || rec.Safety.CrossWorkspace != 0 {
		t.Errorf("safety %+v", rec.Safety)
	}
	p.Store = leaky{store}
	resp, rec := ask(t, door(t, p), request())
	if rec.Safety.CrossWorkspace != 1 || resp.ReasonCode != contract.ReasonCrossWorkspace || m.calls.Load() != 1 {
		t.Errorf("%s %+v", resp.ReasonCode, rec.Safety)
	}
}

// Cancellation and the master switch at each checkpoint while the model
// hangs: a typed end, no proposal, no write, no blocked caller.
func TestF114_CancelAndFlagFlip(t *testing.T) {
	checkpoints := []string{"sufficiency", "specialist", "model", "after model"}
	for _, where := range checkpoints {
		for _, how := range []string{"cancel", "flag"} {
			t.Run(where+"/"+how, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				sw := flags.On()
				hit := func(at string) {
					if at != where {
						return
					}
					if how == "cancel" {
						cancel()
					} else {
						sw.Set(flags.Settings{Models: true})
					}
				}
				m := &fakeModel{gen: func(ctx context.Context, _ contract.GenerateRequest) (contract.GenerateResult, error) {
					hit("model")
					if where == "model" {
						<-ctx.Done()
						return contract.GenerateResult{}, ctx.Err()
					}
					return contract.GenerateResult{Text: "code_defect"}, nil
				}}
				p := parts(m)
				p.Switches = sw
				p.Sufficiency = assess(func() (contract.DeterministicSufficiency, error) { hit("sufficiency"); return specialistRequired() })
				p.Specialists = specialistOf(func(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
					hit("specialist")
					res, err := oneCall(ctx, j)
					hit("after model")
					return res, err
				})
				raw, _ := contract.Encode(request())
				start := time.Now()
				resp, rec := askRaw(t, door(t, p), ctx, raw)
				want := contract.ReasonCancelled
				if how == "flag" {
					want = contract.ReasonCoreDisabled
				}
				if resp.Status != contract.StatusCancelled || resp.ReasonCode != want || string(resp.Recommendation) != "{}" || rec.Result != nil {
					t.Errorf("got %s %s", resp.Status, resp.ReasonCode)
				}
				if time.Since(start) > time.Second || !resp.NoDirectWrites {
					t.Errorf("took %v", time.Since(start))
				}
				for _, r := range rec.Receipts {
					if r.Kind == "specialist" {
						t.Error("the discarded proposal has a receipt")
					}
				}
			})
		}
	}
}

func TestF111_ReceiptFailures(t *testing.T) {
	for _, kind := range []string{"request", "sufficiency", "specialist", "response"} {
		m := &fakeModel{}
		p := parts(m)
		p.Ledger = &receipts.Ledger{Fault: func(k string) error {
			if k == kind {
				return errors.New("disk full")
			}
			return nil
		}}
		resp, rec := ask(t, door(t, p), request())
		if resp.Status != contract.StatusFailed || resp.ReasonCode != contract.ReasonReceiptFailed || string(resp.Recommendation) != "{}" || rec.Result != nil {
			t.Errorf("%s: %s %s", kind, resp.Status, resp.ReasonCode)
		}
		if before := kind == "request" || kind == "sufficiency"; before && m.calls.Load() != 0 {
			t.Errorf("%s: the model was called without a receipt", kind)
		}
	}
}
