package receipts

import (
	"slices"

	"github.com/fabriccore/assay/specialists/contract"
)

// AdvancedTrace is what an authorized role sees of one request beyond its
// answer (F-056).
type AdvancedTrace struct {
	SpecialistsUsed []string                `json:"specialists_used"`
	Routes          []string                `json:"routes"` // "<profile>: <model>", in the order of first use
	Evidence        []contract.EvidenceCite `json:"evidence"`
	Disagreements   []string                `json:"disagreements"`
	Reconciliation  map[string]string       `json:"reconciliation"` // how the orchestrator came to the outcome
	LatencyMS       float64                 `json:"latency_ms"`
	Tokens          int                     `json:"tokens"`
	TraceID         string                  `json:"trace_id"`
	NoDirectWrites  bool                    `json:"no_direct_writes"` // from the write counter
}

// Viewers says which roles may see the advanced trace; decision_engine.
type Viewers interface{ MayView(role string) bool }

// View extends the run view by the advanced trace for the roles that v lets
// see it; every other role gets nil.
func View(v Viewers, role string, resp contract.GatewayResponse, rec contract.Record) *AdvancedTrace {
	if v == nil || !v.MayView(role) {
		return nil
	}
	out := contract.Filled(AdvancedTrace{
		SpecialistsUsed: resp.SpecialistsUsed, Evidence: resp.Evidence, Disagreements: resp.Conflicts, LatencyMS: resp.Metrics.LatencyMS,
		Tokens: resp.Metrics.TokenUsage, TraceID: resp.TraceID, NoDirectWrites: rec.Safety.Writes == 0,
	})
	for _, c := range rec.Calls {
		if r := string(c.Profile) + ": " + c.Model; !slices.Contains(out.Routes, r) {
			out.Routes = append(out.Routes, r)
		}
	}
	for _, e := range rec.Trace {
		if e.Step == contract.StepReconcile {
			out.Reconciliation = e.Detail
		}
	}
	return &out
}
