// Package controlplane_test holds the stand-ins to their contracts; each is
// small enough for one table.
package controlplane_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/capabilities"
	"github.com/fabriccore/assay/specialists/controlplane/decisionengine"
	"github.com/fabriccore/assay/specialists/controlplane/executionplans"
	"github.com/fabriccore/assay/specialists/controlplane/flags"
	"github.com/fabriccore/assay/specialists/controlplane/harness"
	"github.com/fabriccore/assay/specialists/controlplane/ratelimit"
	"github.com/fabriccore/assay/specialists/controlplane/receipts"
	"github.com/fabriccore/assay/specialists/controlplane/workflows"
	"github.com/fabriccore/assay/specialists/controlplane/workspacecontext"
	"github.com/fabriccore/assay/specialists/controlplane/workspaces"
	"github.com/fabriccore/assay/specialists/controlplane/writecounter"
)

type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func TestF017_DefaultDeny(t *testing.T) {
	e := decisionengine.New(decisionengine.Default())
	for _, c := range []struct {
		role, action string
		want         decisionengine.Class
	}{
		{"operator", decisionengine.InvokeCore, decisionengine.Run},
		{"viewer", decisionengine.InvokeCore, decisionengine.Read},
		{"user", decisionengine.InvokeCore, decisionengine.Deny},
		{"", decisionengine.InvokeCore, decisionengine.Deny},
		{"operator", "launch", decisionengine.Deny},
		{"admin", decisionengine.StopCore, decisionengine.Admin},
	} {
		if got := e.ActionClass(c.role, c.action); got != c.want {
			t.Errorf("%s %s: %s", c.role, c.action, got)
		}
	}
	odd := decisionengine.New(decisionengine.Table{"operator": {decisionengine.InvokeCore: "anything"}})
	if odd.MayInvoke("operator") || (decisionengine.Engine{}).MayInvoke("operator") || e.MayInvoke("viewer") {
		t.Error("an unknown class or an empty table lets through")
	}
}

func TestF071_Certify(t *testing.T) {
	ceilings := harness.Ceilings{CoreAgents: 3, MicroAgents: 6, Rounds: 2, Tokens: 100, LatencyMS: 10, TimeoutMS: 10}
	good := contract.AssistancePolicy{
		Enabled: true, AllowedCoreAgents: []string{"fabric.x"}, AllowedTaskClasses: []contract.TaskClass{contract.TaskFailureAnalysis},
		MaxCoreAgentsPerRequest: 3, TokenCeiling: 100,
	}
	for name, c := range map[string]struct {
		change func(*contract.AssistancePolicy)
		by     string
		want   error
	}{
		"fine":         {func(*contract.AssistancePolicy) {}, "harness", nil},
		"wildcard":     {func(p *contract.AssistancePolicy) { p.AllowedCoreAgents = []string{"*"} }, "harness", harness.ErrUnbounded},
		"unbounded":    {func(p *contract.AssistancePolicy) { p.AllowedTaskClasses = nil }, "harness", harness.ErrUnbounded},
		"any trigger":  {func(p *contract.AssistancePolicy) { p.Triggers = []string{"*"} }, "harness", harness.ErrUnbounded},
		"self-granted": {func(*contract.AssistancePolicy) {}, "forge.a", harness.ErrSelfGranted},
		"ungranted":    {func(*contract.AssistancePolicy) {}, "", harness.ErrSelfGranted},
		"ceiling":      {func(p *contract.AssistancePolicy) { p.TokenCeiling = 101 }, "harness", harness.ErrCeiling},
		"negative":     {func(p *contract.AssistancePolicy) { p.MaxReasoningRounds = -1 }, "harness", harness.ErrCeiling},
		"write access": {func(p *contract.AssistancePolicy) { p.WriteAccess = true }, "harness", harness.ErrWriteAccess},
	} {
		p := good
		c.change(&p)
		if err := harness.Certify(p, "forge.a", c.by, ceilings); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestF022_RateLimit(t *testing.T) {
	c := &clock{time.Unix(0, 0)}
	l := ratelimit.New(ratelimit.Limit{PerSecond: 2, Burst: 2}, c.now)
	for i, want := range []bool{true, true, false} {
		if l.Allow("a") != want {
			t.Errorf("request %d", i)
		}
	}
	if !l.Allow("b") {
		t.Error("another key shares the bucket")
	}
	c.t = c.t.Add(500 * time.Millisecond)
	if !l.Allow("a") || l.Allow("a") {
		t.Error("half a second refills one of two a second")
	}
	c.t = c.t.Add(-time.Hour)
	if l.Allow("a") {
		t.Error("a clock that goes back refills")
	}
}

func TestF012_Claims(t *testing.T) {
	c := &clock{time.Unix(0, 0)}
	w := workflows.NewClaims(time.Minute, c.now)
	n := 0
	run := func() error { return w.ExecuteOnce("k", func() error { n++; return nil }) }
	if err := run(); err != nil {
		t.Fatal(err)
	}
	if err := run(); !errors.Is(err, workflows.ErrClaimed) || n != 1 {
		t.Errorf("%v, ran %d times", err, n)
	}
	c.t = c.t.Add(time.Minute)
	if err := run(); err != nil || n != 2 {
		t.Errorf("after the window: %v, ran %d times", err, n)
	}
}

func TestF013_PlanIsBounded(t *testing.T) {
	if _, err := executionplans.Sequential("p", []string{"a", "b"}, executionplans.Bounds{Children: 1, Rounds: 1}); !errors.Is(err, executionplans.ErrFanOut) {
		t.Error(err)
	}
	if _, err := executionplans.Sequential("p", nil, executionplans.Bounds{Children: 1}); !errors.Is(err, executionplans.ErrFanOut) {
		t.Error(err)
	}
	p, err := executionplans.Sequential("p", []string{"a"}, executionplans.Bounds{Children: 1, Rounds: 1})
	if err != nil || p.Complete() {
		t.Fatal(err)
	}
	if id, ok := p.Next(); !ok || id != "a" {
		t.Error("no child")
	}
	p.CompleteChild()
	if _, ok := p.Next(); ok || !p.Complete() {
		t.Error("not complete")
	}
}

func TestF014_BookSeals(t *testing.T) {
	l := &receipts.Ledger{Now: time.Now}
	b := l.Open("t")
	if err := b.Receipt("request", nil); err != nil {
		t.Fatal(err)
	}
	b.Step("a", nil)
	rec := b.Seal()
	b.Step("late", nil)
	b.Call(contract.CallRecord{})
	if err := b.Receipt("late", nil); !errors.Is(err, receipts.ErrSealed) {
		t.Error(err)
	}
	if again := b.Seal(); len(again.Trace) != len(rec.Trace) || len(again.Receipts) != 1 || l.Late() != 3 {
		t.Errorf("%d late, %+v", l.Late(), again)
	}
}

func TestF022_EvidenceStaysInItsWorkspace(t *testing.T) {
	s := workspacecontext.New(contract.EvidenceItem{ID: "e", Workspace: "a"}, contract.EvidenceItem{ID: "e", Workspace: "b"})
	if _, err := s.Resolve(context.Background(), "a/e"); err == nil {
		t.Error("read without a session")
	}
	tally := &workspaces.Tally{}
	in := workspaces.Enter(context.Background(), workspaces.Session{Workspace: "a", Actor: workspaces.Core, Tally: tally})
	if _, err := s.Resolve(in, "a/e"); err != nil {
		t.Error(err)
	}
	if _, err := s.Resolve(in, "b/e"); !errors.Is(err, workspacecontext.ErrCrossWorkspace) || tally.CrossWorkspaceTry.Load() != 1 {
		t.Error(err)
	}
	s.Drop(contract.EvidenceItem{ID: "e", Workspace: "a"})
	if s.Exists("a") || !s.Exists("b") {
		t.Error("a dropped workspace still exists")
	}
}

func TestF051_Scopes(t *testing.T) {
	g := workspaces.Grants{Exists: func(string) bool { return true }, Members: map[string][]string{"w": {"a"}}, Branches: map[string][]string{"w": {"main"}}}
	for _, c := range []struct {
		agent, ws, run, branch string
		ok                     bool
	}{
		{"a", "w", "r", "main", true}, {"b", "w", "r", "main", false}, {"a", "w", "r", "dev", false}, {"b", "other", "r", "dev", true},
		{"a", "w", "", "main", false}, {"a", "w/../x", "r", "main", false}, {"a", "", "r", "main", false},
	} {
		err := g.InScope(contract.Caller{AgentID: c.agent, WorkspaceID: c.ws, RunID: c.run, BranchID: c.branch})
		if (err == nil) != c.ok || err != nil && !errors.Is(err, workspaces.ErrOutOfScope) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if (workspaces.Grants{}).InScope(contract.Caller{WorkspaceID: "w", RunID: "r", BranchID: "b"}) == nil {
		t.Error("the zero grants let through")
	}
}

func TestF032_ControlPlaneItselfMayWrite(t *testing.T) {
	p := &writecounter.Plane{}
	in := workspaces.Enter(context.Background(), workspaces.Session{Actor: workspaces.ControlPlane})
	if err := p.Write(in, writecounter.Transition, "x"); err != nil || p.Writes()["control_plane/transition"] != 1 {
		t.Errorf("%v %v", err, p.Writes())
	}
	if err := p.Write(context.Background(), writecounter.Publish, "x"); !errors.Is(err, writecounter.ErrRefused) || p.Stray().WriteAttempts != 1 {
		t.Errorf("%v %+v", err, p.Stray())
	}
}

func TestF114_BindEndsAtOnce(t *testing.T) {
	w := flags.On()
	ctx, release := w.Bind(context.Background())
	defer release()
	w.Set(flags.Settings{Core: true, Models: true, EmergencyStop: true})
	if !errors.Is(context.Cause(ctx), flags.ErrOff) {
		t.Error(context.Cause(ctx))
	}
}

func TestF011_UnregisteredCapability(t *testing.T) {
	got := capabilities.Registry{"a": "2"}.Versions([]string{"a", "b"})
	if got["a"] != "2" || got["b"] != "unregistered" {
		t.Error(got)
	}
}
