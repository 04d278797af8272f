package reports

import (
	"time"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers"
	"github.com/fabriccore/assay/specialists/contract"
)

// Schema is the version string every document carries.
const Schema = "assay-report.v1"

// AutonomyClaim is the only claim a document makes about autonomy (F-040).
const AutonomyClaim = "bounded_core_specialist"

// Document is the whole truth about a run (H-009). Every other format derives
// from it and says nothing that is not in it.
type Document struct {
	Schema      string    `json:"schema"`
	GeneratedAt time.Time `json:"generated_at"`
	Tool        Tool      `json:"tool"`
	Run         Run       `json:"run"`
	Suite       Suite     `json:"suite"`

	// Verdict is the one to act on: the scorers' verdict, or a worse one where
	// Capped says why (F-001, F-003, Q-42, Q-46). It is never a better one.
	Verdict     scorers.Verdict     `json:"verdict"`
	Dimensions  []scorers.Dimension `json:"dimensions"`
	Reasons     []string            `json:"reasons"`
	Capped      []string            `json:"capped"`
	Exploratory []string            `json:"exploratory"` // why this run can't certify

	AutonomyClaim string `json:"autonomy_claim"`

	Host       journal.Host        `json:"host"`
	Corpora    []Corpus            `json:"corpora"`
	Taxonomies []contract.Taxonomy `json:"taxonomies"`
	Arms       []benchmarks.Arm    `json:"arms"`
	Routes     []Route             `json:"routes"`
	Power      []Power             `json:"power"`
	Looks      []Look              `json:"looks"` // at the frozen corpora, this run included

	Result scorers.Result `json:"result"`

	Posture     []PostureWord  `json:"posture"`      // the five words, always all (F-001)
	Rules       []Rule         `json:"rules"`        // R1..R8, always all (F-003)
	Metrics     []Metric       `json:"metrics"`      // the fifteen, always all (F-151)
	OpenGates   []OpenGate     `json:"open_gates"`   // what can't pass yet, the production gates included
	NotMeasured []string       `json:"not_measured"` // what nobody may conclude from this run
	Deviations  []string       `json:"deviations"`   // where the run left its plan
	Notes       []journal.Note `json:"notes"`
	HowToRead   []string       `json:"how_to_read"`
}

// Tool is the program that wrote the document.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`     // commit or module version, "+dirty" if so
	Digest  string `json:"code_digest"` // SHA-256 of the binary that ran the trials
}

// Run identifies the run and says how far it came.
type Run struct {
	ID          string               `json:"id"`
	Started     time.Time            `json:"started"`
	Finished    time.Time            `json:"finished"` // zero = the run has no end
	PlanDigest  string               `json:"plan_digest"`
	Planned     int                  `json:"planned"` // = the sum of Counts and of what was never run
	Counts      map[journal.Kind]int `json:"counts"`
	Repeats     int                  `json:"repeats"`
	Interrupted string               `json:"interrupted,omitempty"` // why it stopped early
	Resumes     int                  `json:"resumes,omitempty"`
	Tags        map[string]string    `json:"tags,omitempty"`
}

// Suite names what was asked for.
type Suite struct {
	Name      string   `json:"name"`
	Title     string   `json:"title,omitempty"`
	Digest    string   `json:"digest,omitempty"` // of the suite file; empty for an ad-hoc suite
	AdHoc     bool     `json:"ad_hoc,omitempty"`
	Candidate []string `json:"candidates,omitempty"` // the arms that want to be promoted
}

// Corpus says whose data was asked, so that nobody takes it for other data
// (H-002).
type Corpus struct {
	Name      string         `json:"name"`
	Version   int            `json:"version"`
	Digest    string         `json:"digest"` // empty = not frozen
	Origin    string         `json:"origin"`
	Licence   string         `json:"licence"`
	Purpose   string         `json:"purpose"`
	Synthetic bool           `json:"synthetic,omitempty"`
	Labels    map[string]int `json:"labels"` // label source → count
	Cases     int            `json:"cases"`
	Families  int            `json:"families"`
	Taxonomy  string         `json:"taxonomy_digest,omitempty"`
}

// Route is one arm's fingerprint before the first and after the last trial.
type Route struct {
	Arm    string         `json:"arm"`
	Before *journal.Route `json:"before,omitempty"`
	After  *journal.Route `json:"after,omitempty"`
	// Drift lists what differs between the two; anything here makes the run
	// invalid.
	Drift []string `json:"drift"`
}

// Power is what the plan promised before the run.
type Power struct {
	Of       string  `json:"of"`     // the comparison or gate
	Effect   float64 `json:"effect"` // planned, in the gate's own unit
	Unit     string  `json:"unit"`   // "accuracy" (0..1) or "×"
	Power    float64 `json:"power"`  // 0..1
	Alpha    float64 `json:"alpha"`  // one-sided
	N        int     `json:"n"`      // cases
	Families int     `json:"families"`
	Method   string  `json:"method"`
	Missing  string  `json:"missing,omitempty"` // why there is no power figure
}

// Look is one started run on a frozen corpus.
type Look struct {
	At         time.Time `json:"at"`
	Run        string    `json:"run"`
	Corpus     string    `json:"corpus"`
	Candidates []string  `json:"candidates"`
}

// State says whether a row of posture or rules is shown to hold.
type State string

// The states of a posture word or a rule.
const (
	Holds    State = "holds"    // its check ran and passed
	Fails    State = "fails"    // its check ran and did not pass
	Open     State = "open"     // no check is bound to it, or it can't run yet
	Unproven State = "unproven" // its check ran and reached no verdict
	// OutOfPhase is a rule about something that this phase does not do; its
	// row must say why.
	OutOfPhase State = "not_applicable"
)

// PostureWord is one of the five posture words with the check behind it.
type PostureWord struct {
	Word     string   `json:"word"`
	Says     string   `json:"says"`  // what the word promises
	Check    string   `json:"check"` // "" = none
	State    State    `json:"state"`
	Why      string   `json:"why"`
	Evidence []string `json:"evidence"`
}

// Rule is one of R1..R8.
type Rule struct {
	ID       string   `json:"id"`
	Says     string   `json:"says"`
	Check    string   `json:"check"`
	State    State    `json:"state"`
	Why      string   `json:"why"`
	Evidence []string `json:"evidence"`
}

// MetricState says whether one of the fifteen metrics has a number.
type MetricState string

// The states of a metric.
const (
	Measured      MetricState = "measured"
	NotApplicable MetricState = "not_applicable"
	NotMeasured   MetricState = "not_measured"
)

// Metric is one of the fifteen metrics of the evaluation plan (F-151).
type Metric struct {
	ID    string      `json:"id"`
	Name  string      `json:"name"`
	State MetricState `json:"state"`
	Value string      `json:"value,omitempty"` // in words, with n; only if measured
	Why   string      `json:"why"`             // the reason, or where the figures stand
}

// OpenGate is a row that nothing in this run can close.
type OpenGate struct {
	ID       string   `json:"id"`
	Requires string   `json:"requires"`
	Why      string   `json:"why"`
	Evidence []string `json:"evidence"`
}
