package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/agentsstore"
	"github.com/fabriccore/assay/specialists/controlplane/workspacecontext"
	"github.com/fabriccore/assay/specialists/controlplane/workspaces"
	"github.com/fabriccore/assay/specialists/orchestrator"
)

// entry is a decoded request on its way through the four checks.
type entry struct {
	ctx    context.Context
	req    *contract.GatewayRequest
	policy contract.AssistancePolicy
	cands  []contract.CoreAgentDefinition
	budget orchestrator.Budgets
	tally  *workspaces.Tally
	onEnd  func(func()) // keeps a release for the end of the request
}

// refusal says why a check stops a request. The zero refusal lets it pass.
type refusal struct {
	reason contract.ReasonCode
	detail string
}

func refuse(r contract.ReasonCode, format string, args ...any) refusal {
	return refusal{r, fmt.Sprintf(format, args...)}
}

var pass refusal

// check is one named sub-check.
type check struct {
	name string
	run  func(*Gateway, *entry) refusal
}

// checks are the four steps in their order with their sub-checks.
var checks = [...]struct {
	step string
	sub  []check
}{
	{contract.StepIdentity, []check{
		{"recursion", (*Gateway).checkNoCoreCaller},
		{"authority", (*Gateway).checkAuthority},
		{"agent_and_role", (*Gateway).checkAgent},
	}},
	{contract.StepPolicy, []check{
		{"core_enabled", (*Gateway).checkSwitch},
		{"certified_policy", (*Gateway).checkCertified},
		{"write_access", (*Gateway).checkWriteAccess},
		{"hosted_models", (*Gateway).checkHosted},
		{"core_agents", (*Gateway).checkCoreAgents},
		{"invocation_mode", (*Gateway).checkInvocation},
		{"task_class", (*Gateway).checkTaskClass},
	}},
	{contract.StepScope, []check{
		{"workspace_run_branch", (*Gateway).checkScope},
		{"size", (*Gateway).checkSize},
		{"output_schema", (*Gateway).checkOutputSchema},
		{"allowed_sources", (*Gateway).checkSources},
		{"evidence", (*Gateway).checkEvidence},
	}},
	{contract.StepBudget, []check{
		{"ceilings", (*Gateway).checkBudget},
		{"rate_limit", (*Gateway).checkRate},
		{"dedup", (*Gateway).checkDuplicate},
	}},
}

func (g *Gateway) checkNoCoreCaller(e *entry) refusal {
	if _, core := g.p.Registry.Get(e.req.Caller.AgentID); core {
		e.tally.RecursionAttempts.Add(1)
		return refuse(contract.ReasonRecursion, "a core agent never calls the gateway")
	}
	return pass
}

func (g *Gateway) checkAuthority(e *entry) refusal {
	if !g.p.Authority.MayInvoke(e.req.Caller.Role) {
		return refuse(contract.ReasonUnauthorizedRole, "the role may not ask for assistance")
	}
	return pass
}

func (g *Gateway) checkAgent(e *entry) refusal {
	c := e.req.Caller
	roles, err := g.p.Agents.Roles(c.AgentID, c.AgentVersion)
	switch {
	case errors.Is(err, agentsstore.ErrUnknown):
		return refuse(contract.ReasonUnknownAgent, "no such agent")
	case err != nil:
		return refuse(contract.ReasonUnverifiable, "%v", err)
	case len(roles) > 0 && !slices.Contains(roles, c.Role):
		return refuse(contract.ReasonUnauthorizedRole, "the agent does not act in this role")
	}
	return pass
}

func (g *Gateway) checkSwitch(*entry) refusal {
	if !g.p.Switches.CoreEnabled() {
		return refuse(contract.ReasonCoreDisabled, "the specialist layer is switched off")
	}
	return pass
}

func (g *Gateway) checkCertified(e *entry) refusal {
	p, err := g.p.Agents.Policy(e.req.Caller.AgentID, e.req.Caller.AgentVersion)
	switch {
	case errors.Is(err, agentsstore.ErrTampered):
		return refuse(contract.ReasonTamperedPolicy, "the agent's signature does not verify")
	case err != nil:
		return refuse(contract.ReasonUnverifiable, "%v", err)
	case !p.Enabled:
		return refuse(contract.ReasonAssistanceDisabled, "the certified policy disables assistance")
	case slices.ContainsFunc(p.AllowedCoreAgents, wildcard):
		return refuse(contract.ReasonWildcardAgents, "the certified policy is unbounded")
	}
	e.policy = p
	return pass
}

func wildcard(id string) bool { return strings.ContainsAny(id, "*?") }

func (g *Gateway) checkWriteAccess(e *entry) refusal {
	if e.req.Policy.WriteAccess || e.policy.WriteAccess {
		return refuse(contract.ReasonWriteAccess, "assistance is advisory only")
	}
	return pass
}

func (g *Gateway) checkHosted(e *entry) refusal {
	if e.req.Policy.HostedModelsAllowed && !e.policy.HostedModelsAllowed {
		return refuse(contract.ReasonHostedModels, "the certified policy allows no hosted models")
	}
	return pass
}

func (g *Gateway) checkCoreAgents(e *entry) refusal {
	want := e.req.Policy.AllowedCoreAgents
	if slices.ContainsFunc(want, wildcard) {
		return refuse(contract.ReasonWildcardAgents, "allowed_core_agents names everything")
	}
	for _, id := range want {
		if !slices.Contains(e.policy.AllowedCoreAgents, id) {
			return refuse(contract.ReasonAgentNotCertified, "a named core agent is not certified for the caller")
		}
	}
	if len(want) == 0 {
		if e.policy.InvocationMode == contract.InvokeExplicit {
			return refuse(contract.ReasonAgentNotCertified, "the certified policy wants core agents named")
		}
		want = e.policy.AllowedCoreAgents
	}
	for _, id := range want {
		if d, ok := g.p.Registry.Get(id); ok {
			e.cands = append(e.cands, d)
		}
	}
	return pass
}

// checkInvocation holds the path on which a request comes to the one that the
// policy certifies (F-073). Where the request does not say it, a trigger makes
// it conditional, and naming core agents asks for them - which under
// orchestrator_selected narrows the orchestrator's choice.
func (g *Gateway) checkInvocation(e *entry) refusal {
	q, mode := e.req.Policy, e.policy.InvocationMode
	path := q.Invocation
	switch {
	case path != "":
	case q.Trigger != "":
		path = contract.InvokeConditional
	case len(q.AllowedCoreAgents) > 0 && mode == contract.InvokeExplicit:
		path = contract.InvokeExplicit
	default:
		path = contract.InvokeOrchestratorSelected
	}
	switch {
	case path != mode:
		return refuse(contract.ReasonInvocation, "the request comes as %s, certified is %s", path, mode)
	case path == contract.InvokeConditional && !slices.Contains(e.policy.Triggers, q.Trigger):
		return refuse(contract.ReasonInvocation, "the certified policy declares no such trigger")
	case path != contract.InvokeConditional && q.Trigger != "":
		return refuse(contract.ReasonInvocation, "a trigger on the path %s", path)
	}
	return pass
}

func (g *Gateway) checkTaskClass(e *entry) refusal {
	own := e.req.Policy.AllowedTaskClasses
	for _, t := range own {
		if !slices.Contains(e.policy.AllowedTaskClasses, t) {
			return refuse(contract.ReasonTaskNotCertified, "a named task class is not certified for the caller")
		}
	}
	t := e.req.Task.Type
	if !slices.Contains(e.policy.AllowedTaskClasses, t) || len(own) > 0 && !slices.Contains(own, t) {
		return refuse(contract.ReasonTaskNotCertified, "task class %s is not certified for the caller", t)
	}
	e.cands = slices.DeleteFunc(e.cands, func(d contract.CoreAgentDefinition) bool {
		return !slices.Contains(d.SupportedTaskClasses, t)
	})
	if len(e.cands) == 0 {
		return refuse(contract.ReasonNoSpecialist, "no allowed core agent supports %s", t)
	}
	return pass
}

func (g *Gateway) checkScope(e *entry) refusal {
	err := g.p.Scopes.InScope(e.req.Caller)
	switch {
	case errors.Is(err, workspaces.ErrOutOfScope):
		return refuse(contract.ReasonOutOfScope, "%v", err)
	case err != nil:
		return refuse(contract.ReasonUnverifiable, "%v", err)
	}
	return pass
}

func (g *Gateway) checkSize(e *entry) refusal {
	n := len(e.req.Task.Goal)
	for _, c := range e.req.Task.Constraints {
		n += len(c)
	}
	if n > g.p.Limits.GoalBytes {
		return refuse(contract.ReasonOversized, "goal and constraints have %d bytes, at most %d", n, g.p.Limits.GoalBytes)
	}
	if r := len(e.req.ContextManifest.EvidenceRefs); r > g.p.Limits.EvidenceRefs {
		return refuse(contract.ReasonOversized, "%d evidence references, at most %d", r, g.p.Limits.EvidenceRefs)
	}
	return pass
}

func (g *Gateway) checkOutputSchema(e *entry) refusal {
	for _, d := range e.cands {
		if d.OutputSchema == e.req.Task.RequiredOutputSchema {
			return pass
		}
	}
	return refuse(contract.ReasonUnsupportedSchema, "no allowed core agent answers in this schema")
}

func (g *Gateway) checkSources(e *entry) refusal {
	for _, s := range e.req.ContextManifest.AllowedSources {
		ok := slices.ContainsFunc(e.cands, func(d contract.CoreAgentDefinition) bool {
			return slices.Contains(d.AllowedEvidenceSources, s)
		})
		if !ok {
			return refuse(contract.ReasonSourceNotAllowed, "an allowed source is none that the core agents may read")
		}
	}
	return pass
}

// checkEvidence holds every reference to the caller's workspace, the allowed
// sources, the classification and the size. The workspace comes first, so
// that a refusal tells nothing about another workspace's items.
func (g *Gateway) checkEvidence(e *entry) refusal {
	total := 0
	for _, ref := range e.req.ContextManifest.EvidenceRefs {
		ws, id, ok := strings.Cut(ref, "/")
		if !ok || ws == "" || id == "" {
			return refuse(contract.ReasonUnknownEvidence, "a reference is not <workspace>/<item>")
		}
		if ws != e.req.Caller.WorkspaceID {
			e.tally.CrossWorkspaceTry.Add(1)
			return refuse(contract.ReasonCrossWorkspace, "a reference leaves the workspace")
		}
		m, err := g.p.Evidence.Describe(e.ctx, ref)
		switch {
		case errors.Is(err, workspacecontext.ErrUnknown):
			return refuse(contract.ReasonUnknownEvidence, "a reference names no evidence")
		case err != nil:
			return refuse(contract.ReasonUnverifiable, "%v", err)
		case m.Workspace != e.req.Caller.WorkspaceID:
			e.tally.CrossWorkspaceTry.Add(1)
			return refuse(contract.ReasonCrossWorkspace, "a reference leads into another workspace")
		case !slices.Contains(e.req.ContextManifest.AllowedSources, m.Source):
			return refuse(contract.ReasonSourceNotAllowed, "evidence comes from a source outside allowed_sources")
		case m.Classification != workspacecontext.Public && m.Classification != workspacecontext.Internal:
			return refuse(contract.ReasonDataClassification, "evidence is classified above what assistance may read")
		}
		total += m.Bytes
	}
	if total > g.p.Limits.EvidenceBytes {
		return refuse(contract.ReasonOversized, "evidence has %d bytes, at most %d", total, g.p.Limits.EvidenceBytes)
	}
	return pass
}

func (g *Gateway) checkBudget(e *entry) refusal {
	b, p := e.req.Budget, e.policy
	top := int(g.p.Limits.Deadline.Milliseconds())
	for _, f := range [...]struct {
		name    string
		asked   *int
		ceiling int
		zeroOK  bool
		into    *int
	}{
		{"max_core_agents", b.MaxCoreAgents, p.MaxCoreAgentsPerRequest, false, &e.budget.CoreAgents},
		{"max_micro_agents", b.MaxMicroAgents, p.MaxMicroAgentsPerRequest, true, &e.budget.MicroAgents},
		{"max_reasoning_rounds", b.MaxReasoningRounds, p.MaxReasoningRounds, false, &e.budget.Rounds},
		{"token_budget", b.TokenBudget, p.TokenCeiling, false, &e.budget.Tokens},
		{"latency_ms_budget", b.LatencyMSBudget, p.LatencyMSCeiling, false, &e.budget.LatencyMS},
		{"timeout_ms", b.TimeoutMS, min(p.TimeoutMSCeiling, top), false, &e.budget.TimeoutMS},
	} {
		*f.into = f.ceiling
		if f.asked != nil {
			*f.into = *f.asked
		}
		switch {
		case *f.into < 0:
			return refuse(contract.ReasonNegativeBudget, "%s is negative", f.name)
		case *f.into > f.ceiling:
			return refuse(contract.ReasonOverBudget, "%s is %d, certified are %d", f.name, *f.into, f.ceiling)
		case *f.into == 0 && !f.zeroOK:
			return refuse(contract.ReasonZeroBudget, "%s allows nothing", f.name)
		}
	}
	return pass
}

func (g *Gateway) checkRate(e *entry) refusal {
	if !g.p.Limiter.Allow(e.req.Caller.AgentID + "@" + e.req.Caller.WorkspaceID) {
		return refuse(contract.ReasonRateLimited, "too many requests of this agent")
	}
	return pass
}

func (g *Gateway) checkDuplicate(e *entry) refusal {
	key, err := contract.SumOf(e.req) // the same content is the same operation
	if err != nil {
		return refuse(contract.ReasonUnverifiable, "%v", err)
	}
	release, ok := g.p.Claims.Claim(key)
	if !ok {
		return refuse(contract.ReasonDuplicate, "the same request is under way or was just answered")
	}
	e.onEnd(release)
	return pass
}
