package contract

import (
	"encoding/json"
	"time"
)

// Profile is a capability profile that a route maps to a model (F-100).
type Profile string

// The eight profiles.
const (
	ProfileNoModel          Profile = "no_model"
	ProfileFastExtract      Profile = "fast_extract"
	ProfileRetrievalRank    Profile = "retrieval_rank"
	ProfileBalancedReason   Profile = "balanced_reason"
	ProfileDeepPlan         Profile = "deep_plan"
	ProfileCodeReason       Profile = "code_reason"
	ProfileVision           Profile = "vision"
	ProfileSecurityCritique Profile = "security_critique"
)

// GenerateRequest asks a generative profile for one answer.
type GenerateRequest struct {
	Profile Profile
	System  string
	Prompt  string
	// Schema constrains the output; empty = free text.
	Schema json.RawMessage
	// NumPredict bounds the output in tokens; 0 = the route's own bound.
	NumPredict int
	// TopLogprobs asks for that many alternatives per position; 0 = none.
	TopLogprobs int
}

// GenerateResult is a finished answer of a generative profile.
type GenerateResult struct {
	Text     string
	Logprobs []TokenLogprobs // nil unless asked for and served
	Call     CallRecord
}

// TokenLogprobs is one output position; log-probabilities are natural logs.
type TokenLogprobs struct {
	Token   string
	Logprob float64
	Top     []TokenLogprob
}

// TokenLogprob is one alternative at a position.
type TokenLogprob struct {
	Token   string
	Logprob float64
}

// EmbedRequest asks an embedding profile for one vector per text.
type EmbedRequest struct {
	Profile Profile
	Texts   []string
}

// EmbedResult holds one unit-length vector per text, in order.
type EmbedResult struct {
	Vectors [][]float32
	Call    CallRecord
}

// CallKind tells the two kinds of model call apart.
type CallKind string

// The kinds of model call.
const (
	CallGenerate CallKind = "generate"
	CallEmbed    CallKind = "embed"
)

// CallRecord is what one model call was and cost (H-004, Q-43, Q-51). It goes
// to the trace and the journal; Timing carries every part of its time.
type CallRecord struct {
	Kind        CallKind `json:"kind"`
	Profile     Profile  `json:"profile"`
	Model       string   `json:"model"`
	ModelDigest string   `json:"model_digest"`
	// RequestSHA256 is the hash of the exact request body; equal prompts have
	// equal hashes (H-006).
	RequestSHA256 string         `json:"request_sha256"`
	Options       map[string]any `json:"options,omitempty"`
	Timing        CallTiming     `json:"timing"`
	PromptTokens  int            `json:"prompt_tokens"`
	OutputTokens  int            `json:"output_tokens"`
	DoneReason    string         `json:"done_reason,omitempty"`
	Cold          bool           `json:"cold,omitempty"`   // the model was loaded for this call
	Reused        bool           `json:"reused,omitempty"` // prefill rate says a cached prefix was used
	Retries       int            `json:"retries,omitempty"`
	Error         string         `json:"error,omitempty"`
	ErrorKind     string         `json:"error_kind,omitempty"` // "model" | "infra" | "cancelled" | "truncated"
	// Request and Response are the exact exchanged bodies; they go to the
	// transcript pack, not to the journal line.
	Request  json.RawMessage `json:"-"`
	Response json.RawMessage `json:"-"`
}

// CallTiming are the parts of one call's time. Wait is our own semaphore;
// Queue = Total − Load − Prefill − Decode as the client saw it. Nanoseconds
// in JSON, as time.Duration marshals.
type CallTiming struct {
	Wait    time.Duration `json:"wait"`
	Queue   time.Duration `json:"queue"`
	Load    time.Duration `json:"load"`
	Prefill time.Duration `json:"prefill"`
	Decode  time.Duration `json:"decode"`
	Total   time.Duration `json:"total"`
}
