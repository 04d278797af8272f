// Package gateway owns the only door to the specialist layer (F-031). A
// request meets exactly four checks - identity and role, certified policy,
// scope and evidence bounds, budgets - and is then delegated, its response
// validated, and the whole audited. It refuses reasoning, retrieval,
// scheduling, caching, rate limiting, authority and receipt logic: each of
// those is an owner of its own behind a small interface below. It fails
// closed on every branch: whatever breaks beneath it ends as a typed response
// within the deadline.
package gateway

import (
	"context"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/orchestrator"
)

// Authority says whether a role may ask for assistance; decision_engine.
type Authority interface{ MayInvoke(role string) bool }

// Agents serves roles and the certified policy out of signed agents.
type Agents interface {
	Roles(id, version string) ([]string, error)
	Policy(id, version string) (contract.AssistancePolicy, error)
}

// Registry knows the Core Agents.
type Registry interface {
	Get(id string) (contract.CoreAgentDefinition, bool)
}

// Switches are fabric_core's master switch. Bind's context ends when it is
// switched off.
type Switches interface {
	CoreEnabled() bool
	Bind(context.Context) (context.Context, func())
}

// Scopes judges workspace, run and branch.
type Scopes interface{ InScope(contract.Caller) error }

// Evidence describes items without reading them.
type Evidence interface {
	Describe(ctx context.Context, ref string) (contract.EvidenceMeta, error)
}

// Limiter is the rate-limit middleware.
type Limiter interface{ Allow(key string) bool }

// Claims dedups operations.
type Claims interface {
	Claim(key string) (release func(), ok bool)
}

// Plane reads the write counter and takes note of hidden recursion.
type Plane interface {
	Stray() contract.SafetyCounters
	StrayRecursion()
}

// Book is the record of one request.
type Book interface {
	orchestrator.Book
	Calls() []contract.CallRecord
	Seal() contract.Record
}

// Delegate answers an admitted request.
type Delegate interface {
	Handle(context.Context, orchestrator.Assignment, orchestrator.Book) orchestrator.Outcome
}

// Limits bound one request whatever its policy says.
type Limits struct {
	EvidenceRefs  int           // references
	EvidenceBytes int           // of all items together
	GoalBytes     int           // of goal and constraints together
	Deadline      time.Duration // of a request that names none, and the most it may name
	Grace         time.Duration // for work that was told to stop to say how it stopped
	Audit         time.Duration // for the last receipt
}

// DefaultLimits are those of the pilot.
func DefaultLimits() Limits {
	return Limits{
		EvidenceRefs: 64, EvidenceBytes: 4 << 20, GoalBytes: 16 << 10,
		Deadline: 120 * time.Second, Grace: 20 * time.Millisecond, Audit: time.Second,
	}
}

// Parts are the owners behind the door.
type Parts struct {
	Authority  Authority
	Agents     Agents
	Registry   Registry
	Switches   Switches
	Scopes     Scopes
	Evidence   Evidence
	Limiter    Limiter
	Claims     Claims
	Plane      Plane
	Delegate   Delegate
	Open       func(traceID string) Book
	NewTraceID func() (string, error)
	Now        func() time.Time
	Limits     Limits
}
