// Package writecounter stands in for the writing side of the control plane -
// run_typed_agent, weave_workflows.transition, approvals and publication
// (F-032, F-054): every write goes through one instrumented door that counts
// it with attribution and refuses Core and Micro agents. Specialists hold no
// handle to it; the handle exists for the caller's own governed path and for
// probes that try. It refuses to know what is written.
package writecounter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/workspaces"
)

// ErrRefused refuses a write by an actor that may not write.
var ErrRefused = errors.New("write refused: the specialist layer is advisory only")

// API names one writing interface of the control plane.
type API string

// The four writing interfaces.
const (
	Publish    API = "publish"
	Approve    API = "approve"
	Transition API = "transition"
	Execute    API = "execute"
)

// Plane is the instrumented control plane. It is safe for concurrent use.
type Plane struct {
	// Unguarded lets forbidden writes through, counted. It exists so that a
	// self-test can show that the safety gate sees them (F-153).
	Unguarded bool

	// stray tallies acts without a session: they can't be told apart, so
	// they count against every request that is under way.
	stray workspaces.Tally

	mu     sync.Mutex
	writes map[string]int
	state  atomic.Int64
}

// Write performs one write for the actor of ctx's session.
func (p *Plane) Write(ctx context.Context, api API, what string) error {
	s, ok := workspaces.Current(ctx)
	t := &p.stray
	actor := workspaces.Actor("unattributed")
	if ok {
		t, actor = s.Tally, s.Actor
	}
	if actor == workspaces.ControlPlane {
		p.count(actor, api)
		return nil
	}
	t.WriteAttempts.Add(1)
	if api == Approve {
		t.ApprovalAttempts.Add(1)
	}
	if !p.Unguarded {
		return fmt.Errorf("%s %s by %s: %w", api, what, actor, ErrRefused)
	}
	t.Writes.Add(1)
	if api == Approve {
		t.ApprovalBypasses.Add(1)
	}
	p.count(actor, api)
	return nil
}

func (p *Plane) count(a workspaces.Actor, api API) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writes == nil {
		p.writes = map[string]int{}
	}
	p.writes[string(a)+"/"+string(api)]++
	p.state.Add(1)
}

// Writes returns the writes that went through, by "actor/api".
func (p *Plane) Writes() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[string]int, len(p.writes))
	for k, v := range p.writes {
		out[k] = v
	}
	return out
}

// State is a version of the written state: equal before and after means that
// nothing was written (F-054).
func (p *Plane) State() int64 { return p.state.Load() }

// Stray reads what was tried without a session since the plane exists.
func (p *Plane) Stray() contract.SafetyCounters { return p.stray.Counters() }

// StrayRecursion counts an entry into the gateway from inside a specialist
// that hid its session.
func (p *Plane) StrayRecursion() { p.stray.RecursionAttempts.Add(1) }
