// Package harness stands in for fabric_harness.certify (F-016, F-071): which
// assistance policies may be signed into an agent. It refuses to sign; the
// agents store's owner does, after a certificate.
package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fabriccore/assay/specialists/contract"
)

// The four grounds on which a policy is not certified.
var (
	ErrUnbounded   = errors.New("wildcard or unbounded policy")
	ErrSelfGranted = errors.New("scope granted by the agent itself")
	ErrCeiling     = errors.New("budget above the ceiling")
	ErrWriteAccess = errors.New("write access")
)

// Ceilings bound what a policy may grant.
type Ceilings struct {
	CoreAgents, MicroAgents, Rounds, Tokens, LatencyMS, TimeoutMS int
}

// Certify returns nil for a policy that may be signed. agentID is the agent
// it is for, grantedBy who grants it.
func Certify(p contract.AssistancePolicy, agentID, grantedBy string, c Ceilings) error {
	for _, id := range p.AllowedCoreAgents {
		if strings.ContainsAny(id, "*?") || id == "" {
			return fmt.Errorf("certify %s: allowed_core_agents %q: %w", agentID, id, ErrUnbounded)
		}
	}
	if slices.ContainsFunc(p.Triggers, func(t string) bool { return t == "" || strings.ContainsAny(t, "*?") }) {
		return fmt.Errorf("certify %s: triggers %q: %w", agentID, p.Triggers, ErrUnbounded)
	}
	if p.Enabled && (len(p.AllowedCoreAgents) == 0 || len(p.AllowedTaskClasses) == 0) {
		return fmt.Errorf("certify %s: enabled without named agents and task classes: %w", agentID, ErrUnbounded)
	}
	if grantedBy == "" || grantedBy == agentID {
		return fmt.Errorf("certify %s: granted by %q: %w", agentID, grantedBy, ErrSelfGranted)
	}
	for _, b := range [...]struct {
		name     string
		got, top int
	}{
		{"max_core_agents_per_request", p.MaxCoreAgentsPerRequest, c.CoreAgents},
		{"max_micro_agents_per_request", p.MaxMicroAgentsPerRequest, c.MicroAgents},
		{"max_reasoning_rounds", p.MaxReasoningRounds, c.Rounds},
		{"token_ceiling", p.TokenCeiling, c.Tokens},
		{"latency_ms_ceiling", p.LatencyMSCeiling, c.LatencyMS},
		{"timeout_ms_ceiling", p.TimeoutMSCeiling, c.TimeoutMS},
	} {
		if b.got < 0 || b.got > b.top {
			return fmt.Errorf("certify %s: %s is %d, the ceiling is %d: %w", agentID, b.name, b.got, b.top, ErrCeiling)
		}
	}
	if p.WriteAccess {
		return fmt.Errorf("certify %s: %w", agentID, ErrWriteAccess)
	}
	return nil
}
