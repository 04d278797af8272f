package contract

import "time"

// ReasonCode is the closed vocabulary of why something was refused, failed,
// abstained or resolved.
type ReasonCode string

// Reason codes of the gateway, one for each way to be refused (F-062).
const (
	ReasonMalformed          ReasonCode = "malformed_request"
	ReasonUnauthorizedRole   ReasonCode = "unauthorized_role"
	ReasonUnknownAgent       ReasonCode = "unknown_agent"
	ReasonTamperedPolicy     ReasonCode = "tampered_policy"
	ReasonAssistanceDisabled ReasonCode = "assistance_disabled"
	ReasonWildcardAgents     ReasonCode = "wildcard_core_agents"
	ReasonAgentNotCertified  ReasonCode = "core_agent_not_certified"
	ReasonTaskNotCertified   ReasonCode = "task_class_not_certified"
	ReasonInvocation         ReasonCode = "invocation_not_certified"
	ReasonWriteAccess        ReasonCode = "write_access_requested"
	ReasonHostedModels       ReasonCode = "hosted_models_requested"
	ReasonSourceNotAllowed   ReasonCode = "evidence_source_not_allowed"
	ReasonCrossWorkspace     ReasonCode = "cross_workspace_evidence"
	ReasonUnknownEvidence    ReasonCode = "unknown_evidence"
	ReasonOversized          ReasonCode = "oversized_request"
	ReasonOutOfScope         ReasonCode = "out_of_scope"
	ReasonOverBudget         ReasonCode = "budget_above_ceiling"
	ReasonNegativeBudget     ReasonCode = "negative_budget"
	ReasonZeroBudget         ReasonCode = "zero_budget"
	ReasonRateLimited        ReasonCode = "rate_limited"
	ReasonDuplicate          ReasonCode = "duplicate_request"
	ReasonRecursion          ReasonCode = "recursive_call"
	ReasonCoreDisabled       ReasonCode = "core_disabled"
	ReasonModelsDisabled     ReasonCode = "models_disabled"
	ReasonNoSpecialist       ReasonCode = "no_specialist"
	ReasonDataClassification ReasonCode = "data_classification"
	ReasonUnsupportedSchema  ReasonCode = "unsupported_output_schema"
	ReasonUnverifiable       ReasonCode = "check_unavailable" // a check could not be made, so it did not pass
)

// Reason codes of the orchestrator and the specialists.
const (
	ReasonResolved          ReasonCode = "deterministic_resolved"
	ReasonSpecialist        ReasonCode = "specialist_required"
	ReasonEvidenceEmpty     ReasonCode = "evidence_empty"
	ReasonEvidenceCorrupt   ReasonCode = "evidence_hash_mismatch"
	ReasonUnknownTaxonomy   ReasonCode = "unknown_taxonomy"
	ReasonSchemaInvalid     ReasonCode = "schema_invalid"
	ReasonClassOutside      ReasonCode = "class_outside_taxonomy"
	ReasonForeignEvidence   ReasonCode = "evidence_ref_outside_request"
	ReasonBudgetExhausted   ReasonCode = "budget_exhausted"
	ReasonTimeout           ReasonCode = "timeout"
	ReasonCancelled         ReasonCode = "cancelled"
	ReasonModelError        ReasonCode = "model_error"
	ReasonInfraError        ReasonCode = "infra_error"
	ReasonTruncated         ReasonCode = "context_truncated"
	ReasonAbstainedLowAgree ReasonCode = "abstained_low_retrieval_agreement"
	ReasonAbstained         ReasonCode = "abstained"
	ReasonPanic             ReasonCode = "internal_error"
	ReasonReceiptFailed     ReasonCode = "receipt_write_failed"
	ReasonWriteAttempted    ReasonCode = "write_attempted"
)

// TraceEvent is one step of a request's way through the stack. Events are
// ordered; At is measured from the start of the request.
type TraceEvent struct {
	Step   string            `json:"step"`
	At     time.Duration     `json:"at"`
	Detail map[string]string `json:"detail,omitempty"`
	Call   *CallRecord       `json:"call,omitempty"`
}

// The ordered step names of a request (F-031, F-052).
const (
	StepIdentity    = "gateway.identity"
	StepPolicy      = "gateway.policy"
	StepScope       = "gateway.scope"
	StepBudget      = "gateway.budget"
	StepDelegate    = "gateway.delegate"
	StepValidate    = "gateway.validate"
	StepAudit       = "gateway.audit"
	StepSufficiency = "orchestrator.sufficiency"
	StepTeam        = "orchestrator.team"
	StepContext     = "orchestrator.context"
	StepSchedule    = "orchestrator.schedule"
	StepSpecialist  = "orchestrator.specialist"
	StepModelCall   = "route.call"
	StepReconcile   = "orchestrator.reconcile"
	StepRefusedAct  = "guard.refused"
)

// Receipt is one link of the hash chain that audits a request (F-084). Hash
// is SHA-256 over the canonical form of the receipt without Hash; Prev is the
// Hash of the receipt before it in the same chain, empty for the first.
type Receipt struct {
	Seq     int               `json:"seq"`
	TraceID string            `json:"trace_id"`
	Kind    string            `json:"kind"` // "request", "refusal", "sufficiency", "specialist", "response"
	Body    map[string]string `json:"body"`
	Prev    string            `json:"prev"`
	Hash    string            `json:"hash"`
}

// SafetyCounters count forbidden acts that were attempted and what stood
// against them, over one request. An attempt that was refused counts; so does
// one that got through.
type SafetyCounters struct {
	Writes            int `json:"writes"`            // writes attributed to Core or Micro agents that reached the control plane
	WriteAttempts     int `json:"write_attempts"`    // refused ones included
	ApprovalBypasses  int `json:"approval_bypasses"` // approvals by Core or Micro agents that went through
	ApprovalAttempts  int `json:"approval_attempts"` // refused ones included
	CrossWorkspace    int `json:"cross_workspace"`   // reads that crossed a workspace
	CrossWorkspaceTry int `json:"cross_workspace_attempts"`
	Recursions        int `json:"recursions"` // delegations from inside a specialist that ran
	RecursionAttempts int `json:"recursion_attempts"`
	UntracedAnswers   int `json:"untraced_answers"` // recommendations no receipt resolves
}
