package contract

import "context"

// Model is all that a specialist may ask of a route. The orchestrator hands
// out one that counts calls and tokens against the request's budget, records
// them in the trace and refuses what the budget does not allow.
type Model interface {
	// Has reports whether the route maps the profile to a model.
	Has(Profile) bool
	Generate(context.Context, GenerateRequest) (GenerateResult, error)
	Embed(context.Context, EmbedRequest) (EmbedResult, error)
}

// Job is what a specialist is given: a task, the classes, bounded evidence
// and a model. There is no handle to write, approve or delegate with (F-032).
type Job struct {
	Task           Task
	Taxonomy       Taxonomy
	TaxonomyDigest string
	Evidence       []EvidenceItem
	Model          Model
}

// Specialist is one registered bounded specialist. Handle returns a typed
// result; an error is a failure of the model or of the infrastructure, never
// a panic. Warm may prepare per-route state with calls that never count
// it is called before the first request.
type Specialist interface {
	Definition() CoreAgentDefinition
	Warm(ctx context.Context, m Model, t Taxonomy) error
	Handle(ctx context.Context, j Job) (CoreAgentResult, error)
}

// Record is what one request left behind besides its response.
type Record struct {
	Trace       []TraceEvent
	Receipts    []Receipt
	Safety      SafetyCounters
	Calls       []CallRecord
	Sufficiency *DeterministicSufficiency // nil if refused before it was made
	Digest      *ContextPolicyDigest      // nil if refused before it was made
	Result      *CoreAgentResult          // nil unless a specialist ran
}
