package inproc

import (
	"context"
	"encoding/json"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/specialists/contract"
)

// controlVersion names the controls' behaviour in arm digests.
const controlVersion = "1"

// controls make the specialist that stands in for the real one in a
// control: arm; a new one is one line.
var controls = map[string]func(def contract.CoreAgentDefinition, a benchmarks.Arm) contract.Specialist{
	benchmarks.GuessControl: func(def contract.CoreAgentDefinition, a benchmarks.Arm) contract.Specialist {
		return &guess{def: def, class: a.Guess}
	},
}

// guess is the specialist of the negative control: it reads nothing and always
// answers the class learnt on development data.
type guess struct {
	def   contract.CoreAgentDefinition
	class string
}

func (g *guess) Definition() contract.CoreAgentDefinition { return g.def }

func (g *guess) Warm(context.Context, contract.Model, contract.Taxonomy) error { return nil }

func (g *guess) Handle(_ context.Context, j contract.Job) (contract.CoreAgentResult, error) {
	// A guess cites everything: it can't know which item carries the cause.
	var cites []contract.EvidenceCite
	var refs []string
	for _, e := range j.Evidence {
		cites = append(cites, contract.EvidenceCite{Ref: e.Ref(), SHA256: e.SHA256})
		refs = append(refs, e.Ref())
	}
	prov := []contract.Provenance{{Step: "guess", Source: "control.guess", Digest: controlVersion}}
	raw, err := json.Marshal(contract.Filled(contract.FailureAssessment{
		FailureClass: g.class, Evidence: cites, Provenance: prov,
		RootCauseHypotheses: []contract.Hypothesis{{Cause: "the most frequent class of the development corpus", EvidenceRefs: refs,
			ConfidenceInputs: contract.ConfidenceInputs{}, FailureClass: g.class}},
	}))
	if err != nil {
		return contract.CoreAgentResult{}, err
	}
	return contract.Filled(contract.CoreAgentResult{CoreAgentID: g.def.ID, Version: g.def.Version, Status: contract.StatusCompleted,
		Recommendation: raw, Evidence: cites, Provenance: prov, ConfidenceInputs: contract.ConfidenceInputs{}}), nil
}
