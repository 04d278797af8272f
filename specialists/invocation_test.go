package specialists_test

import (
	"testing"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/agentsstore"
)

// Each mode lets its own path in and refuses the other two.
func TestF073_InvocationModes(t *testing.T) {
	type path = func(*contract.RequestPolicy)
	named := []string{"fabric.failure_investigator"}
	asked := func(p *contract.RequestPolicy) { p.Invocation, p.AllowedCoreAgents = contract.InvokeExplicit, named }
	triggered := func(p *contract.RequestPolicy) { p.Invocation, p.Trigger = contract.InvokeConditional, "run_failed" }
	selected := func(p *contract.RequestPolicy) { p.Invocation = contract.InvokeOrchestratorSelected }
	unsaid := func(*contract.RequestPolicy) {}
	names := func(p *contract.RequestPolicy) { p.AllowedCoreAgents = named }
	event := func(p *contract.RequestPolicy) { p.Trigger = "run_failed" }
	const (
		ok    = contract.ReasonCode("")
		other = contract.ReasonInvocation
		none  = contract.ReasonAgentNotCertified // nobody is named
	)
	for _, c := range []struct {
		name                           string
		path                           path
		explicit, conditional, select1 contract.ReasonCode
	}{
		{"asked", asked, ok, other, other},
		{"triggered", triggered, none, ok, other},
		{"selected", selected, none, other, ok},
		{"unsaid", unsaid, none, other, ok},
		{"unsaid, names", names, ok, other, ok}, // narrows the orchestrator's choice
		{"unsaid, event", event, none, ok, other},
		{"triggered, names", func(p *contract.RequestPolicy) { triggered(p); names(p) }, other, ok, other},
		{"asked, event", func(p *contract.RequestPolicy) { asked(p); event(p) }, other, other, other},
		{"asked, no names", func(p *contract.RequestPolicy) { p.Invocation = contract.InvokeExplicit }, none, other, other},
		{"selected, event", func(p *contract.RequestPolicy) { selected(p); event(p) }, none, other, other},
		{"undeclared event", func(p *contract.RequestPolicy) { p.Trigger = "full_moon" }, none, other, other},
		{"conditional without event", func(p *contract.RequestPolicy) { p.Invocation = contract.InvokeConditional }, none, other, other},
	} {
		for mode, want := range map[contract.InvocationMode]contract.ReasonCode{
			contract.InvokeExplicit: c.explicit, contract.InvokeConditional: c.conditional, contract.InvokeOrchestratorSelected: c.select1,
		} {
			t.Run(c.name+" under "+string(mode), func(t *testing.T) {
				m, q := &fakeModel{}, request()
				p := parts(m)
				agent(func(a *agentsstore.Agent) {
					a.Assistance.InvocationMode, a.Assistance.Triggers = mode, []string{"run_failed"}
				})(&p)
				c.path(&q.Policy)
				resp, _ := ask(t, door(t, p), q)
				if got := resp.ReasonCode; got != want || (want == ok) != (resp.Status == contract.StatusCompleted) || (want == ok) != (m.calls.Load() == 1) {
					t.Errorf("%s %s %v after %d calls, want %q", resp.Status, got, resp.UnresolvedItems, m.calls.Load(), want)
				}
			})
		}
	}
}
