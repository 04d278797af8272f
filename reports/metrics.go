package reports

import (
	"fmt"
	"strings"

	"github.com/fabriccore/assay/scorers"
)

// metricRows are the fifteen metrics of F-151 in its order, with what phase 1
// can say about each before anything is measured.
var metricRows = []Metric{
	{ID: "first_pass_validity", Name: "first-pass Forge Agent validity", State: NotApplicable, Why: "phase 1 forges no agents"},
	{ID: "missing_requirement_rate", Name: "missing-requirement rate", State: NotApplicable, Why: "phase 1 writes no requirements"},
	{ID: "wrong_capability_rate", Name: "wrong-capability rate", State: NotApplicable, Why: "no capability is selected before phase 3 (Q-32)"},
	{ID: "unsupported_assumption_rate", Name: "unsupported-assumption rate", State: NotMeasured, Why: "nobody has labelled the assumptions of the answers"},
	{ID: "human_corrections", Name: "human corrections", State: NotMeasured, Why: "no person worked with the answers of this run"},
	{ID: "certification_pass_rate", Name: "certification pass rate", State: NotApplicable, Why: "phase 1 certifies no agents"},
	{ID: "dry_run_failure_rate", Name: "dry-run failure rate", State: NotApplicable, Why: "phase 1 executes no dry runs"},
	{ID: "recovery_success", Name: "runtime recovery success", State: NotApplicable, Why: "recovery starts with phase 2"},
	{ID: "goal_verification_accuracy", Name: "goal-verification accuracy", State: NotApplicable, Why: "outcome verification starts with phase 2"},
	{ID: "time_to_completion", Name: "time-to-completion", State: NotMeasured, Why: "the whole workflow around the answer was not run"},
	{ID: "token_usage", Name: "token usage", State: NotMeasured, Why: "the scorer gave no token counts"},
	{ID: "model_call_count", Name: "model-call count", State: NotMeasured, Why: "the scorer gave no call counts"},
	{ID: "latency", Name: "latency", State: NotMeasured, Why: "no latency row has a number"},
	{ID: "security_findings", Name: "security findings", State: NotMeasured, Why: "no safety counter was measured"},
	{ID: "production_failures", Name: "post-certification production failures", State: NotMeasured, Why: "nothing of this run is in production"},
}

// completeMetrics lists all fifteen: the given rows by ID, latency and security
// findings from the result where they were measured, else the default reason.
func completeMetrics(given []Metric, r scorers.Result) []Metric {
	byID := map[string]Metric{}
	for _, m := range given {
		byID[m.ID] = m
	}
	out := make([]Metric, len(metricRows))
	for i, m := range metricRows {
		switch m.ID {
		case "latency":
			if n := measuredArms(r); n > 0 {
				m.State, m.Value, m.Why = Measured, fmt.Sprintf("%d arms", n), "see the latency table"
			}
		case "token_usage":
			if len(r.Costs) > 0 {
				m.State, m.Value, m.Why = Measured, costList(r.Costs, func(c scorers.Cost) string {
					return fmt.Sprintf("%d in, %d out", c.PromptTokens, c.OutputTokens)
				}), "tokens as the server counted them, all trials of an arm"
			}
		case "model_call_count":
			if len(r.Costs) > 0 {
				m.State, m.Value, m.Why = Measured, costList(r.Costs, func(c scorers.Cost) string {
					return fmt.Sprintf("%d in %d trials", c.Calls, c.Trials)
				}), "model calls, embeddings included"
			}
		case "security_findings":
			if v, ok := findings(r.Safety); ok {
				m.State, m.Value, m.Why = Measured, v, "see the safety table"
			}
		}
		if g, ok := byID[m.ID]; ok {
			m.State = g.State
			m.Value, m.Why = g.Value, g.Why
		}
		if m.State == Measured && m.Value == "" {
			m.State, m.Why = NotMeasured, "said to be measured, but without a value"
		}
		out[i] = m
	}
	return out
}

// costList writes one value an arm.
func costList(cs []scorers.Cost, value func(scorers.Cost) string) string {
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = c.Arm + ": " + value(c)
	}
	return strings.Join(parts, "; ")
}

func measuredArms(r scorers.Result) int {
	n := 0
	for _, l := range r.Latency {
		if l.Profile == "" && l.P50.OK() && l.N > 0 {
			n++
		}
	}
	return n
}

// findings sums up the safety counters in words; ok is false if none of them
// was measured.
func findings(cs []scorers.SafetyCounter) (string, bool) {
	var measured, hit int
	var bad []string
	for _, c := range cs {
		if !c.Measured {
			continue
		}
		measured++
		if c.Violations > 0 {
			hit += c.Violations
			bad = append(bad, c.Name)
		}
	}
	if measured == 0 {
		return "", false
	}
	s := fmt.Sprintf("%d violations over %d of %d counters", hit, measured, len(cs))
	if len(bad) > 0 {
		s += " (" + strings.Join(bad, ", ") + ")"
	}
	return s, true
}
