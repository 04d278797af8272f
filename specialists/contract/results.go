package contract

import "encoding/json"

// SufficiencyVerdict says whether deterministic code suffices (F-035).
type SufficiencyVerdict string

// The three verdicts of DeterministicSufficiency.v1.
const (
	SufficiencyResolved           SufficiencyVerdict = "resolved"
	SufficiencySpecialistRequired SufficiencyVerdict = "specialist_required"
	SufficiencyBlocked            SufficiencyVerdict = "blocked"
)

// DeterministicSufficiency is DeterministicSufficiency.v1 (F-064).
// RequiredTaskClass is non-nil exactly when Verdict is specialist_required.
type DeterministicSufficiency struct {
	Verdict           SufficiencyVerdict `json:"verdict"`
	ReasonCode        ReasonCode         `json:"reason_code"`
	Evidence          []EvidenceCite     `json:"evidence"`
	RequiredTaskClass *TaskClass         `json:"required_task_class"`
	ResolvedResult    json.RawMessage    `json:"resolved_result"`
}

// FailureAssessment is FailureAssessment.v1 (F-066): advisory only.
type FailureAssessment struct {
	FailureClass        string         `json:"failure_class"`
	RootCauseHypotheses []Hypothesis   `json:"root_cause_hypotheses"`
	ImpactedSymbols     []string       `json:"impacted_symbols"`
	Evidence            []EvidenceCite `json:"evidence"`
	Assumptions         []string       `json:"assumptions"`
	UnresolvedQuestions []string       `json:"unresolved_questions"`
	// RecommendedTaskClassNext is nil or "recovery_planning"; nothing in
	// phase 1 acts on it.
	RecommendedTaskClassNext *TaskClass   `json:"recommended_task_class_next"`
	Provenance               []Provenance `json:"provenance"`
}

// Hypothesis is one possible root cause; hypotheses are ordered best first.
type Hypothesis struct {
	Cause            string           `json:"cause"`
	EvidenceRefs     []string         `json:"evidence_refs"`
	ConfidenceInputs ConfidenceInputs `json:"confidence_inputs"`
	// FailureClass is an additive field so that top-k can be scored.
	FailureClass string `json:"failure_class,omitempty"`
}

// Provenance says which step made a statement, from what.
type Provenance struct {
	Step   string `json:"step"`   // e.g. "evidence_selection", "retrieval_rank", "generate"
	Source string `json:"source"` // what it used: a route profile, a rule file, a selector
	Digest string `json:"digest"` // of that source, "sha256:<hex>" or a model digest
}

// CoreAgentResult is CoreAgentResult.v1 (F-067).
type CoreAgentResult struct {
	CoreAgentID         string           `json:"core_agent_id"`
	Version             string           `json:"version"`
	Status              Status           `json:"status"`
	Recommendation      json.RawMessage  `json:"recommendation"`
	Evidence            []EvidenceCite   `json:"evidence"`
	Assumptions         []string         `json:"assumptions"`
	Constraints         []string         `json:"constraints"`
	RiskFlags           []string         `json:"risk_flags"`
	UnresolvedConflicts []string         `json:"unresolved_conflicts"`
	UnresolvedQuestions []string         `json:"unresolved_questions"`
	ConfidenceInputs    ConfidenceInputs `json:"confidence_inputs"`
	Provenance          []Provenance     `json:"provenance"`
	Metrics             CoreAgentMetrics `json:"metrics"`
}

// CoreAgentMetrics are the three measured costs of CoreAgentResult.v1.
type CoreAgentMetrics struct {
	LatencyMS  float64 `json:"latency_ms"`
	TokenUsage int     `json:"token_usage"`
	ModelRoute string  `json:"model_route"`
}

// Digest is ContextPolicyDigest.v1 (F-065): the signed cache identity.
type ContextPolicyDigest struct {
	Digest     string           `json:"digest"` // "sha256:<hex>" of the canonical components
	SignedBy   string           `json:"signed_by"`
	Components DigestComponents `json:"components"`
	// Signature and KeyID are additive fields: Ed25519 over the digest
	// string, base64; the first 16 hex digits of the key's SHA-256.
	Signature string `json:"signature,omitempty"`
	KeyID     string `json:"key_id,omitempty"`
}

// DigestComponents are the eight inputs that may change a specialist result.
type DigestComponents struct {
	WorkspaceID             string            `json:"workspace_id"`
	BranchID                string            `json:"branch_id"`
	CapabilityVersions      map[string]string `json:"capability_versions"`
	SourceFreshness         map[string]string `json:"source_freshness"`
	ModelProviderPolicy     string            `json:"model_provider_policy"`
	AssistancePolicyVersion string            `json:"assistance_policy_version"`
	TaskType                TaskClass         `json:"task_type"`
	EvidenceRefs            []string          `json:"evidence_refs"` // a set: sorted before hashing
}

// InvocationMode says how a certified agent may reach a specialist (F-073).
type InvocationMode string

// The three invocation modes.
const (
	InvokeExplicit             InvocationMode = "explicit"
	InvokeConditional          InvocationMode = "conditional"
	InvokeOrchestratorSelected InvocationMode = "orchestrator_selected"
)

// AssistancePolicy is the certified policy core_agent_assistance of a signed
// agent (F-070). Ceilings of tokens, latency and time-out bound Budget.
type AssistancePolicy struct {
	Version                       string         `json:"version"`
	Enabled                       bool           `json:"enabled"`
	AllowedCoreAgents             []string       `json:"allowed_core_agents"`
	AllowedTaskClasses            []TaskClass    `json:"allowed_task_classes"`
	InvocationMode                InvocationMode `json:"invocation_mode"`
	MaxCoreAgentsPerRequest       int            `json:"max_core_agents_per_request"`
	MaxMicroAgentsPerRequest      int            `json:"max_micro_agents_per_request"`
	MaxReasoningRounds            int            `json:"max_reasoning_rounds"`
	TokenCeiling                  int            `json:"token_ceiling"`
	LatencyMSCeiling              int            `json:"latency_ms_ceiling"`
	TimeoutMSCeiling              int            `json:"timeout_ms_ceiling"`
	WriteAccess                   bool           `json:"write_access"`
	HostedModelsAllowed           bool           `json:"hosted_models_allowed"`
	ApprovalRequiredForEscalation bool           `json:"approval_required_for_escalation"`
	// Triggers is an additive field: the events on which an agent in
	// mode conditional may reach a specialist.
	Triggers []string `json:"triggers,omitempty"`
}

// CoreAgentDefinition is the persistent registry entry (F-068), 22 fields,
// all required.
type CoreAgentDefinition struct {
	ID                     string        `json:"id"`
	DisplayName            string        `json:"display_name"`
	Version                string        `json:"version"`
	Owner                  string        `json:"owner"`
	Purpose                string        `json:"purpose"`
	SupportedTaskClasses   []TaskClass   `json:"supported_task_classes"`
	InputSchema            string        `json:"input_schema"`
	OutputSchema           string        `json:"output_schema"`
	AllowedEvidenceSources []string      `json:"allowed_evidence_sources"`
	AllowedCapabilities    []string      `json:"allowed_capabilities"`
	WritePolicy            string        `json:"write_policy"` // always "none"
	ModelRoutingPolicy     RoutingPolicy `json:"model_routing_policy"`
	TimeoutMS              int           `json:"timeout_ms"`
	TokenBudget            int           `json:"token_budget"`
	LatencyMSBudget        int           `json:"latency_ms_budget"`
	MaxMicroFanout         int           `json:"max_micro_fanout"`
	RetryPolicy            string        `json:"retry_policy"`
	FailurePolicy          string        `json:"failure_policy"`
	EvaluationSuite        string        `json:"evaluation_suite"`
	QualityHistoryRef      string        `json:"quality_history_ref"`
	RolloutState           string        `json:"rollout_state"`
	DeprecationState       string        `json:"deprecation_state"`
}

// RoutingPolicy names the profiles a specialist may use and bounds its model
// calls. MaxGenerativeCalls is 1 in phase 1; MaxModelCalls counts
// every call, embeddings included.
type RoutingPolicy struct {
	Profiles           []Profile `json:"profiles"`
	MaxModelCalls      int       `json:"max_model_calls"`
	MaxGenerativeCalls int       `json:"max_generative_calls"`
}
