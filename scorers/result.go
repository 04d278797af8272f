// Package scorers joins labels to outcomes, counts safety, applies gates and
// reaches the verdict. It refuses rendering and models.
package scorers

import (
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers/stats"
	"github.com/fabriccore/assay/specialists/contract"
)

// Verdict is what a gate, a dimension or a run comes to:
// blocked > invalid > not_qualified > inconclusive > qualified.
type Verdict string

// The verdicts.
const (
	Qualified    Verdict = "qualified"
	NotQualified Verdict = "not_qualified"
	Inconclusive Verdict = "inconclusive"
	Invalid      Verdict = "invalid"
	Blocked      Verdict = "blocked"
)

// Result is everything scoring has to say about a run.
type Result struct {
	Arms        []ArmScore      `json:"arms"`
	Comparisons []Comparison    `json:"comparisons"`
	Latency     []LatencyRow    `json:"latency"`
	Ratios      []LatencyRatio  `json:"latency_ratios"`
	Safety      []SafetyCounter `json:"safety"`
	Costs       []Cost          `json:"costs"`
	Gates       []Gate          `json:"gates"`
	Dimensions  []Dimension     `json:"dimensions"`
	Verdict     Verdict         `json:"verdict"`
	// Infrastructure says that the infrastructure kept a verdict from being
	// reached.
	Infrastructure bool           `json:"infrastructure,omitempty"`
	Reasons        []string       `json:"reasons"` // why the verdict is what it is, one line each
	Cases          []CaseRow      `json:"cases"`
	CasesCut       int            `json:"cases_cut,omitempty"` // rows left out of Cases
	NotMeasured    []string       `json:"not_measured"`
	Labels         map[string]int `json:"labels"` // label source → count
}

// ArmScore is one arm's accuracy.
type ArmScore struct {
	Arm       string               `json:"arm"`
	Planned   int                  `json:"planned"` // trials; the sum over Counts and Unseen
	Unseen    int                  `json:"unseen"`  // planned trials that the journal does not hold
	Cases     int                  `json:"cases"`   // after repeats are reduced
	Missing   int                  `json:"missing"` // cases without an outcome (infrastructure, skipped, unseen)
	Counts    map[journal.Kind]int `json:"counts"`
	Accuracy  stats.Figure         `json:"accuracy"`           // top-1 over cases with an outcome; model errors, refusals count as wrong
	TopK      stats.Figure         `json:"top_k"`              // top-3
	Coverage  stats.Figure         `json:"coverage"`           // answered share
	Selective stats.Figure         `json:"selective_accuracy"` // right among answered
	Subset    stats.Figure         `json:"specialist_required_accuracy"`
	Hard      stats.Figure         `json:"hard_accuracy"`
	Easy      stats.Figure         `json:"easy_accuracy"`
	Evidence  stats.Figure         `json:"evidence_hit_rate"` // answers citing ≥1 labelled item
	Resolved  int                  `json:"resolved"`          // cases settled with no model call
	ByClass   []ClassScore         `json:"by_class"`
	Confusion Confusion            `json:"confusion"`
}

// ClassScore is recall and precision of one class.
type ClassScore struct {
	Class     string       `json:"class"`
	Recall    stats.Figure `json:"recall"`
	Precision stats.Figure `json:"precision"`
}

// Confusion counts answers by label. Rows are labels in Classes order,
// columns are answers in Columns order (Classes and then the kinds that are
// no answer).
type Confusion struct {
	Classes []string `json:"classes"`
	Columns []string `json:"columns"`
	Counts  [][]int  `json:"counts"`
}

// Comparison is a paired difference of two arms on the same cases, A − B in
// accuracy (−1..1).
type Comparison struct {
	Name       string       `json:"name"` // e.g. "core:x vs best model-free baseline"
	ArmA       string       `json:"arm_a"`
	ArmB       string       `json:"arm_b"`
	Subset     string       `json:"subset"`     // "all" or "specialist_required"
	Difference stats.Figure `json:"difference"` // one-sided 95 % lower bound in Lo, family-level
	McNemarP   stats.Figure `json:"mcnemar"`    // descriptive
	Tango      stats.Figure `json:"tango"`      // descriptive
	AccuracyA  stats.Figure `json:"accuracy_a"` // over the compared cases
	AccuracyB  stats.Figure `json:"accuracy_b"`
	Power      stats.Figure `json:"power"`   // for the suite's declared effect
	Missing    int          `json:"missing"` // cases of the subset without an outcome in both arms
	OnlyA      int          `json:"only_a"`
	OnlyB      int          `json:"only_b"`
	Both       int          `json:"both"`
	Neither    int          `json:"neither"`
}

// LatencyRow is one line of the published latency table (F-104, H-011).
type LatencyRow struct {
	Arm      string       `json:"arm"`
	Profile  string       `json:"profile"` // "" = the whole trial
	N        int          `json:"n"`
	P50      stats.Figure `json:"p50_ms"`
	P95      stats.Figure `json:"p95_ms"`
	Prefill  stats.Figure `json:"prefill_p50_ms"`
	Decode   stats.Figure `json:"decode_p50_ms"`
	Overhead stats.Figure `json:"overhead_p50_ms"` // gateway and orchestrator
	OverP99  stats.Figure `json:"overhead_p99_ms"`
	LeftOut  int          `json:"left_out"` // cold, cached or replayed
	Censored int          `json:"censored"`
}

// LatencyRatio is a paired ratio of two arms' times, geometric mean.
type LatencyRatio struct {
	Name   string       `json:"name"`
	ArmA   string       `json:"arm_a"`
	ArmB   string       `json:"arm_b"`
	Subset string       `json:"subset"`
	Ratio  stats.Figure `json:"ratio"` // one-sided 95 % upper bound in Hi
	P50A   stats.Figure `json:"p50_a_ms"`
	P50B   stats.Figure `json:"p50_b_ms"`
	P95A   stats.Figure `json:"p95_a_ms"`
	P95B   stats.Figure `json:"p95_b_ms"`
	// NoCall counts cases that arm A settled without a model call,
	// LeftOut those whose every pair was cold or reused a cached prefix,
	// Missing those without a time in both arms, Censored those in which a
	// call ended by time-out. They are reported apart from Ratio's n.
	NoCall   int     `json:"no_call"`
	LeftOut  int     `json:"left_out"`
	Missing  int     `json:"missing"`
	Censored int     `json:"censored"`
	Verdict  Verdict `json:"verdict,omitempty"` // of the gate on this ratio, if there is one
}

// SafetyCounter is one standing safety gate's count (F-153, Q-47).
type SafetyCounter struct {
	Name       string `json:"name"`
	Violations int    `json:"violations"`
	Attempts   int    `json:"attempts"`
	Exposures  int    `json:"exposures"` // distinct probes or requests in which it could have happened
	Minimum    int    `json:"minimum"`   // exposures a pass needs
	Measured   bool   `json:"measured"`
	// SelfTest is "raised" when the counter's own self-test raised it through
	// the public path in this run, "open" when that does not exist yet.
	SelfTest string `json:"self_test"`
}

// Gate is one row of the acceptance table.
type Gate struct {
	ID        string        `json:"id"` // e.g. "G4.accuracy"
	Requires  string        `json:"requires"`
	Dimension string        `json:"dimension"` // "safety", "accuracy", "latency", "posture"
	Figure    *stats.Figure `json:"figure,omitempty"`
	Observed  string        `json:"observed"`
	Limit     string        `json:"limit"`
	Verdict   Verdict       `json:"verdict"`
	Open      bool          `json:"open"` // needs work that does not exist yet; never passes
	Why       string        `json:"why"`
	Evidence  []string      `json:"evidence"` // requirement ids and where the proof stands
}

// Dimension sums up the gates of one dimension.
type Dimension struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`
}

// CaseRow shows one case over all arms.
type CaseRow struct {
	Case       string       `json:"case"`
	Family     string       `json:"family"`
	Corpus     string       `json:"corpus"`
	Label      string       `json:"label"`
	Cause      string       `json:"cause"`
	Difficulty string       `json:"difficulty"`
	Toolchain  string       `json:"toolchain"`
	LabelItems []string     `json:"label_items"`
	Answers    []CaseAnswer `json:"answers"`
	Differs    bool         `json:"differs"` // some arms are right and some are wrong
	// Evidence are the items with their text cut to what a page can hold.
	Evidence []contract.EvidenceItem `json:"evidence,omitempty"`
}

// CaseAnswer is one arm's reduced answer to a case.
type CaseAnswer struct {
	Arm      string       `json:"arm"`
	Kind     journal.Kind `json:"kind"`
	Class    string       `json:"class"`
	Cause    string       `json:"cause,omitempty"`
	Evidence []string     `json:"evidence,omitempty"`
	Right    bool         `json:"right"`
	MS       float64      `json:"ms"`
	Trial    string       `json:"trial"` // key, for `assay trace`
}
