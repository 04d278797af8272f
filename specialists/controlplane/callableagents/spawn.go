// Package callableagents stands in for callable_agents (F-019): typed
// delegation from one agent to another. In phase 1 the fan-out is 0 and no
// agent inside a request may delegate, so it refuses everything and counts
// who tried (F-034).
package callableagents

import (
	"context"
	"errors"
	"fmt"

	"github.com/fabriccore/assay/specialists/controlplane/workspaces"
)

// ErrRefused refuses a delegation.
var ErrRefused = errors.New("delegation refused: no fan-out and no recursion")

// Spawner is the delegation interface. No specialist holds one.
type Spawner struct {
	// Unguarded lets a delegation through, counted, for the self-test of the
	// safety gate (F-153).
	Unguarded bool
}

// Spawn asks for a child agent on behalf of ctx's actor.
func (s Spawner) Spawn(ctx context.Context, child string) error {
	cur, ok := workspaces.Current(ctx)
	if !ok {
		return fmt.Errorf("spawn %s outside a request: %w", child, ErrRefused)
	}
	cur.Tally.RecursionAttempts.Add(1)
	if !s.Unguarded {
		return fmt.Errorf("spawn %s by %s: %w", child, cur.Actor, ErrRefused)
	}
	cur.Tally.Recursions.Add(1)
	return nil
}
