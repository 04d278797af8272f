package contract

import "encoding/json"

// System names the kind of platform component that sends a request (F-061).
type System string

// The seven caller systems of GatewayRequest.v1.
const (
	SystemForgeAgent      System = "forge_agent"
	SystemWeave           System = "weave"
	SystemForgeStudio     System = "forge_studio"
	SystemCertification   System = "certification"
	SystemRuntimeRecovery System = "runtime_recovery"
	SystemRAG             System = "rag"
	SystemConnectorMgmt   System = "connector_mgmt"
)

// TaskClass names what a request asks for (F-061).
type TaskClass string

// The nine task classes of GatewayRequest.v1.
const (
	TaskContextResolution   TaskClass = "context_resolution"
	TaskCapabilityMatching  TaskClass = "capability_matching"
	TaskPlanGeneration      TaskClass = "plan_generation"
	TaskFailureAnalysis     TaskClass = "failure_analysis"
	TaskRecoveryPlanning    TaskClass = "recovery_planning"
	TaskOutcomeVerification TaskClass = "outcome_verification"
	TaskAgentArchitecture   TaskClass = "agent_architecture"
	TaskAgentBuild          TaskClass = "agent_build"
	TaskCertificationReview TaskClass = "certification_review"
)

// GatewayRequest is GatewayRequest.v1 (F-061): the only thing a caller may
// send through the door.
type GatewayRequest struct {
	Caller          Caller          `json:"caller"`
	Task            Task            `json:"task"`
	ContextManifest ContextManifest `json:"context_manifest"`
	Policy          RequestPolicy   `json:"policy"`
	Budget          Budget          `json:"budget"`
}

// Caller says who asks and in which scope.
type Caller struct {
	System       System `json:"system"`
	Component    string `json:"component"`
	AgentID      string `json:"agent_id"`
	AgentVersion string `json:"agent_version"`
	Role         string `json:"role"`
	WorkspaceID  string `json:"workspace_id"`
	RunID        string `json:"run_id"`
	BranchID     string `json:"branch_id"`
	// UserID is an additive field; empty when the caller is no person.
	UserID string `json:"user_id,omitempty"`
}

// Task says what is asked.
type Task struct {
	Type                 TaskClass `json:"type"`
	Goal                 string    `json:"goal"`
	Constraints          []string  `json:"constraints"`
	RequiredOutputSchema string    `json:"required_output_schema"`
	// TaxonomyDigest is an additive field: the SHA-256 of the
	// taxonomy whose classes the answer must use, as "sha256:<hex>".
	TaxonomyDigest string `json:"taxonomy_digest,omitempty"`
}

// ContextManifest bounds what the specialist may read.
type ContextManifest struct {
	// EvidenceRefs are references of the form "<workspace id>/<item id>".
	EvidenceRefs   []string `json:"evidence_refs"`
	AllowedSources []string `json:"allowed_sources"`
}

// RequestPolicy is the caller's own, narrower wish; the certified policy of
// the signed agent always bounds it (F-072).
type RequestPolicy struct {
	AllowedCoreAgents   []string    `json:"allowed_core_agents"`
	AllowedTaskClasses  []TaskClass `json:"allowed_task_classes"`
	WriteAccess         bool        `json:"write_access"`
	HostedModelsAllowed bool        `json:"hosted_models_allowed"`
	// Invocation and Trigger are additive fields: on which path the
	// request comes, and which event of the caller's platform set it off
	// (F-073). Empty, the path is read off the rest of the request.
	Invocation InvocationMode `json:"invocation,omitempty"`
	Trigger    string         `json:"trigger,omitempty"`
}

// Budget bounds one request (F-034). A nil field means the certified ceiling,
// zero means that nothing is allowed, a negative number is refused.
type Budget struct {
	MaxCoreAgents      *int `json:"max_core_agents,omitempty"`
	MaxMicroAgents     *int `json:"max_micro_agents,omitempty"`
	MaxReasoningRounds *int `json:"max_reasoning_rounds,omitempty"`
	TokenBudget        *int `json:"token_budget,omitempty"`
	LatencyMSBudget    *int `json:"latency_ms_budget,omitempty"`
	TimeoutMS          *int `json:"timeout_ms,omitempty"`
}

// Status is the terminal status of a response. StatusCancelled is accepted on
// the wire in v1 as Q-01 decides.
type Status string

// The terminal statuses.
const (
	StatusCompleted Status = "completed"
	StatusPartial   Status = "partial"
	StatusRefused   Status = "refused"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// GatewayResponse is GatewayResponse.v1 (F-063).
type GatewayResponse struct {
	Status           Status           `json:"status"`
	Recommendation   json.RawMessage  `json:"recommendation"`
	Evidence         []EvidenceCite   `json:"evidence"`
	Assumptions      []string         `json:"assumptions"`
	Conflicts        []string         `json:"conflicts"`
	UnresolvedItems  []string         `json:"unresolved_items"`
	ConfidenceInputs ConfidenceInputs `json:"confidence_inputs"`
	SpecialistsUsed  []string         `json:"specialists_used"`
	// NoDirectWrites is computed from the write counter, never set by hand.
	NoDirectWrites bool    `json:"no_direct_writes"`
	TraceID        string  `json:"trace_id"`
	Metrics        Metrics `json:"metrics"`
	// ReasonCode is an additive field: why a request did not complete,
	// or how it did ("deterministic_resolved").
	ReasonCode ReasonCode `json:"reason_code,omitempty"`
}

// Metrics are the measured costs of one request. Times are milliseconds.
type Metrics struct {
	LatencyMS       float64 `json:"latency_ms"`
	GatewayMS       float64 `json:"gateway_ms"` // total less time inside model calls and the semaphore
	TokenUsage      int     `json:"token_usage"`
	ModelCalls      int     `json:"model_calls"`
	GenerativeCalls int     `json:"generative_calls"`
	ModelRoute      string  `json:"model_route"`
}

// ConfidenceInputs are measured signals by name (F-036); a model's own word
// about itself is never among them.
type ConfidenceInputs map[string]float64

// EvidenceCite points at a stretch of an evidence item.
type EvidenceCite struct {
	Ref    string `json:"ref"`              // "<workspace id>/<item id>"
	SHA256 string `json:"sha256,omitempty"` // of the item's text, hex
	Line   int    `json:"line,omitempty"`   // 1-based; 0 = the whole item
	Quote  string `json:"quote,omitempty"`
}
