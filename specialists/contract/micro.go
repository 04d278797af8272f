package contract

// MicroAgentContract bounds one Micro-Agent (F-069): one narrow task inside a
// Core Agent with fixed typed input and output. The parent owns synthesis, so
// that an implementation can be replaced without touching the parent's own
// contract. The three authorities are always false; the schema refuses others.
type MicroAgentContract struct {
	ID                  string `json:"id"`
	Version             string `json:"version"`
	ParentCoreAgent     string `json:"parent_core_agent"`
	Task                string `json:"task"`
	InputSchema         string `json:"input_schema"`
	OutputSchema        string `json:"output_schema"`
	WriteAccess         bool   `json:"write_access"`
	ApprovalAuthority   bool   `json:"approval_authority"`
	DelegationAuthority bool   `json:"delegation_authority"`
	MaxContextBytes     int    `json:"max_context_bytes"`
	TokenBudget         int    `json:"token_budget"`
	TimeoutMS           int    `json:"timeout_ms"`
	FailurePolicy       string `json:"failure_policy"` // always "fail_closed"
	EvaluationSuite     string `json:"evaluation_suite"`
}
