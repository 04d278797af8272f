package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/flags"
	"github.com/fabriccore/assay/specialists/controlplane/workspaces"
	"github.com/fabriccore/assay/specialists/orchestrator"
)

// Gateway is safe for concurrent use.
type Gateway struct {
	p         Parts
	discarded atomic.Int64
	stuck     atomic.Int64
}

// New checks that every owner is there.
func New(p Parts) (*Gateway, error) {
	if p.Authority == nil || p.Agents == nil || p.Registry == nil || p.Switches == nil || p.Scopes == nil || p.Evidence == nil ||
		p.Limiter == nil || p.Claims == nil || p.Plane == nil || p.Delegate == nil || p.Open == nil || p.NewTraceID == nil || p.Now == nil {
		return nil, errors.New("assemble gateway: a part is missing")
	}
	if p.Limits.Deadline <= 0 || p.Limits.Audit <= 0 || p.Limits.EvidenceRefs <= 0 || p.Limits.EvidenceBytes <= 0 || p.Limits.GoalBytes <= 0 {
		return nil, errors.New("assemble gateway: a limit is missing")
	}
	return &Gateway{p: p}, nil
}

// Discarded counts results that came after their request had ended.
func (g *Gateway) Discarded() int { return int(g.discarded.Load()) }

// Stuck counts requests whose work had not ended when they were answered.
func (g *Gateway) Stuck() int { return int(g.stuck.Load()) }

// visit is one request from entry to answer. Its fields are the door's; the
// decoded request is only read, by the work goroutine as well.
type visit struct {
	*Gateway
	book    Book
	tally   *workspaces.Tally
	stray   contract.SafetyCounters // at the start
	trace   string
	start   time.Time
	rawSum  string
	mu      sync.Mutex
	release []func()
}

// Request answers one request; raw is a GatewayRequest.v1 document and the
// answer a GatewayResponse.v1 document. It never panics and returns by the
// deadline (F-111).
func (g *Gateway) Request(ctx context.Context, raw []byte) ([]byte, contract.Record) {
	v := &visit{Gateway: g, tally: &workspaces.Tally{}, start: g.p.Now(), rawSum: contract.Sum(raw), stray: g.p.Plane.Stray()}
	id, err := g.p.NewTraceID()
	if err != nil {
		id = "untraced"
	}
	v.trace = id
	v.book = g.p.Open(id)
	defer v.end()
	if err != nil {
		return v.answer(ended(contract.StatusFailed, contract.ReasonPanic, "no trace id"), "")
	}
	if outer, inside := workspaces.Current(ctx); inside {
		outer.Tally.RecursionAttempts.Add(1)
		v.tally.RecursionAttempts.Add(1)
		v.book.Step(contract.StepRefusedAct, map[string]string{"act": "recursion"})
		return v.answer(ended(contract.StatusRefused, contract.ReasonRecursion, "called from inside a request"), "")
	}
	if orchestrator.OnStack() {
		g.p.Plane.StrayRecursion()
		v.book.Step(contract.StepRefusedAct, map[string]string{"act": "recursion"})
		return v.answer(ended(contract.StatusRefused, contract.ReasonRecursion, "called from inside a specialist"), "")
	}
	req, err := contract.Decode[contract.GatewayRequest](raw)
	if err != nil {
		reason := contract.ReasonMalformed
		var de *contract.DecodeError
		if errors.As(err, &de) && de.Kind == contract.FaultSize {
			reason = contract.ReasonOversized
		}
		return v.answer(ended(contract.StatusRefused, reason, err.Error()), "")
	}
	out := v.bounded(ctx, &req)
	return v.answer(out, req.Task.RequiredOutputSchema)
}

// ended is an outcome without a recommendation.
func ended(s contract.Status, r contract.ReasonCode, why string) orchestrator.Outcome {
	o := orchestrator.Outcome{Status: s, Reason: r}
	if why != "" {
		o.Unresolved = []string{why}
	}
	return o
}

// errDeadline is the cause with which a request's own time-out ends it.
var errDeadline = errors.New("the request's time-out")

// bounded runs the four checks, the delegation and the validation in a
// goroutine and returns at the latest when the deadline passes, the caller
// cancels or the master switch goes off, whatever the work does then.
func (v *visit) bounded(caller context.Context, req *contract.GatewayRequest) orchestrator.Outcome {
	bound, unbind := v.p.Switches.Bind(caller)
	defer unbind()
	ctx, cancel := context.WithTimeoutCause(bound, v.deadline(req), errDeadline)
	defer cancel()
	inside := workspaces.Enter(ctx, workspaces.Session{
		TraceID: v.trace, Workspace: req.Caller.WorkspaceID, Actor: workspaces.Core, Tally: v.tally,
	})
	done := make(chan orchestrator.Outcome, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- ended(contract.StatusFailed, contract.ReasonPanic, fmt.Sprintf("panic: %v", p))
			}
		}()
		done <- v.work(inside, req)
	}()
	select {
	case out := <-done:
		if ctx.Err() == nil || out.Status == contract.StatusRefused {
			return out
		}
		v.discard(out)
	case <-ctx.Done():
		grace := time.NewTimer(v.p.Limits.Grace)
		defer grace.Stop()
		select {
		case out := <-done: // the work saw the end; its records are complete
			v.discard(out)
		case <-grace.C:
			v.stuck.Add(1)
			go func() { v.discard(<-done) }()
		}
	}
	return cut(caller, ctx)
}

func (v *visit) discard(out orchestrator.Outcome) {
	if len(out.Recommendation) > 0 {
		v.discarded.Add(1)
	}
}

// cut says how a request ended that did not end by itself (F-114).
func cut(caller, ctx context.Context) orchestrator.Outcome {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, flags.ErrOff):
		return ended(contract.StatusCancelled, contract.ReasonCoreDisabled, "")
	case errors.Is(cause, errDeadline), errors.Is(caller.Err(), context.DeadlineExceeded):
		return ended(contract.StatusFailed, contract.ReasonTimeout, "")
	default:
		return ended(contract.StatusCancelled, contract.ReasonCancelled, "")
	}
}

// deadline is the request's time-out, at most the door's own.
func (v *visit) deadline(req *contract.GatewayRequest) time.Duration {
	d := v.p.Limits.Deadline
	if ms := req.Budget.TimeoutMS; ms != nil && *ms > 0 && *ms < int(d.Milliseconds()) {
		d = time.Duration(*ms) * time.Millisecond
	}
	return d
}

// work is the walk of F-031 up to validation.
func (v *visit) work(ctx context.Context, req *contract.GatewayRequest) orchestrator.Outcome {
	e := &entry{ctx: ctx, req: req, tally: v.tally, onEnd: v.onEnd}
	for _, s := range checks {
		v.book.Step(s.step, nil)
		for _, c := range s.sub {
			if ctx.Err() != nil {
				return ended(contract.StatusCancelled, contract.ReasonCancelled, "")
			}
			if r := c.run(v.Gateway, e); r != pass {
				v.book.Step(contract.StepRefusedAct, map[string]string{"step": s.step, "check": c.name, "reason": string(r.reason)})
				return ended(contract.StatusRefused, r.reason, r.detail)
			}
		}
	}
	v.book.Step(contract.StepDelegate, nil)
	if err := v.book.Receipt("request", map[string]string{
		"request_sha256": v.rawSum, "agent": req.Caller.AgentID + "@" + req.Caller.AgentVersion, "role": req.Caller.Role,
		"workspace": req.Caller.WorkspaceID, "run": req.Caller.RunID, "branch": req.Caller.BranchID,
		"task": string(req.Task.Type), "policy_version": e.policy.Version,
	}); err != nil {
		return ended(contract.StatusFailed, contract.ReasonReceiptFailed, "")
	}
	ids := make([]string, len(e.cands))
	for i, d := range e.cands {
		ids[i] = d.ID
	}
	out := v.p.Delegate.Handle(ctx, orchestrator.Assignment{
		Request: req, Candidates: ids, Policy: e.policy, Budget: e.budget, Start: v.start,
	}, v.book)
	if out.Status == contract.StatusRefused {
		return out
	}
	v.book.Step(contract.StepValidate, nil)
	return validated(out, req)
}

func (v *visit) onEnd(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.release = append(v.release, f)
}

func (v *visit) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range v.release {
		f()
	}
	v.release = nil
}
