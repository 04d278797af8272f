// Package workspaces stands in for workspaces.current_id and the control
// plane's row-level isolation (F-022): who is acting inside which request and
// workspace, the tally of what that request tried, and which scopes exist. It
// refuses to hold data.
package workspaces

import (
	"context"
	"sync/atomic"

	"github.com/fabriccore/assay/specialists/contract"
)

// Actor is the kind of code that acts.
type Actor string

// The actors that a session can have. Code without a session has no actor and
// may change nothing.
const (
	Core         Actor = "core"  // the specialist layer, inside a request
	Micro        Actor = "micro" // a Micro-Agent inside a Core Agent
	ControlPlane Actor = "control_plane"
)

// Session marks a context as being inside a request.
type Session struct {
	TraceID   string
	Workspace string
	Actor     Actor
	Tally     *Tally
}

type key struct{}

// Enter returns a context inside the session.
func Enter(ctx context.Context, s Session) context.Context {
	if s.Tally == nil {
		s.Tally = &Tally{}
	}
	return context.WithValue(ctx, key{}, s)
}

// Current returns the session that ctx is inside of.
func Current(ctx context.Context) (Session, bool) {
	s, ok := ctx.Value(key{}).(Session)
	return s, ok
}

// Tally counts the forbidden acts of one request. It is safe for concurrent
// use, also by a specialist that outlives its request.
type Tally struct {
	Writes, WriteAttempts              atomic.Int64
	ApprovalBypasses, ApprovalAttempts atomic.Int64
	CrossWorkspace, CrossWorkspaceTry  atomic.Int64
	Recursions, RecursionAttempts      atomic.Int64
}

// Counters reads the tally.
func (t *Tally) Counters() contract.SafetyCounters {
	return contract.SafetyCounters{
		Writes: int(t.Writes.Load()), WriteAttempts: int(t.WriteAttempts.Load()),
		ApprovalBypasses: int(t.ApprovalBypasses.Load()), ApprovalAttempts: int(t.ApprovalAttempts.Load()),
		CrossWorkspace: int(t.CrossWorkspace.Load()), CrossWorkspaceTry: int(t.CrossWorkspaceTry.Load()),
		Recursions: int(t.Recursions.Load()), RecursionAttempts: int(t.RecursionAttempts.Load()),
	}
}

// Add puts another tally's counts on top.
func (t *Tally) Add(c contract.SafetyCounters) {
	t.Writes.Add(int64(c.Writes))
	t.WriteAttempts.Add(int64(c.WriteAttempts))
	t.ApprovalBypasses.Add(int64(c.ApprovalBypasses))
	t.ApprovalAttempts.Add(int64(c.ApprovalAttempts))
	t.CrossWorkspace.Add(int64(c.CrossWorkspace))
	t.CrossWorkspaceTry.Add(int64(c.CrossWorkspaceTry))
	t.Recursions.Add(int64(c.Recursions))
	t.RecursionAttempts.Add(int64(c.RecursionAttempts))
}
