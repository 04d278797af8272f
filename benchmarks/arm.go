package benchmarks

import (
	"encoding/json"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/route"
)

// ArmKind is one way to answer (design §3).
type ArmKind string

// The kinds of arm in this version.
const (
	ArmDeterministic ArmKind = "deterministic" // the Phase-0 path, no model
	ArmBare          ArmKind = "bare"          // one schema-constrained call
	ArmCore          ArmKind = "core"          // the full stack
	ArmControl       ArmKind = "control"       // the full stack, specialist replaced by a guess
)

// Arm is one resolved way to answer. Digest covers everything below it: kind,
// route with model digests and options, prompts, specialist version, taxonomy.
type Arm struct {
	Name           string      `json:"name"` // "deterministic", "bare:smollm2", …
	Kind           ArmKind     `json:"kind"`
	Route          *route.Spec `json:"route,omitempty"` // nil = no model
	ModelDigests   []string    `json:"model_digests,omitempty"`
	SpecialistID   string      `json:"specialist_id,omitempty"`
	SpecialistVer  string      `json:"specialist_version,omitempty"`
	PromptDigest   string      `json:"prompt_digest,omitempty"`
	RulesDigest    string      `json:"rules_digest,omitempty"`
	TaxonomyDigest string      `json:"taxonomy_digest"`
	Guess          string      `json:"guess,omitempty"` // control: the class it always answers
	Digest         string      `json:"digest"`
}

// Generators are the profiles whose model words an answer, the first that a
// route maps is its generator.
var Generators = []contract.Profile{contract.ProfileBalancedReason, contract.ProfileFastExtract}

// Generator names the model that words the arm's answers, with its digest and
// all options; "" for an arm without one. A latency ratio is one of the layer
// only between arms of the same generator.
func (a Arm) Generator() string {
	if a.Route == nil {
		return ""
	}
	for _, p := range Generators {
		if m, ok := a.Route.Profiles[p]; ok {
			id, err := json.Marshal(struct {
				Model  route.ModelSpec `json:"model"`
				Digest string          `json:"digest"`
			}{m, a.Models()[p]})
			if err != nil {
				return ""
			}
			return string(id)
		}
	}
	return ""
}
