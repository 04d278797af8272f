// Package journal owns the message stream of a run: its types, the synced
// append and the reading of a stream whose last line may be torn. It refuses
// scoring, HTTP and processes: right and wrong do not exist here.
package journal

import (
	"time"

	"github.com/fabriccore/assay/specialists/contract"
)

// Message is one line of a journal. Exactly one field is set.
type Message struct {
	Run       *Run       `json:"run,omitempty"`       // first line
	Route     *Route     `json:"route,omitempty"`     // a fingerprint, before the first trial and after the last
	Warmup    *Warmup    `json:"warmup,omitempty"`    // calls that never count
	Trial     *Trial     `json:"trial,omitempty"`     // finished when its line is synced
	Note      *Note      `json:"note,omitempty"`      // what a reader of the report must know
	Resume    *Resume    `json:"resume,omitempty"`    // the run went on after an interruption
	Interrupt *Interrupt `json:"interrupt,omitempty"` // the run stopped early and kept what it had
	End       *End       `json:"end,omitempty"`       // last line of a complete run
}

// Run opens a journal.
type Run struct {
	ID          string    `json:"id"`
	Suite       string    `json:"suite"`
	Started     time.Time `json:"started"`
	PlanDigest  string    `json:"plan_digest"`
	CodeVersion string    `json:"code_version"` // module version or commit, "+dirty" if so
	CodeDigest  string    `json:"code_digest"`  // sha256 of the running binary
	Planned     int       `json:"planned"`
	// ManifestSHA256 is the hex hash of the run's manifest file.
	ManifestSHA256 string            `json:"manifest_sha256,omitempty"`
	Exploratory    []string          `json:"exploratory,omitempty"` // why this run can't certify
	Tags           map[string]string `json:"tags,omitempty"`
	Host           Host              `json:"host"`
}

// Host is the declared hardware class; never a name or an address.
type Host struct {
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"`
	MemoryMB    int    `json:"memory_mb"`
	KernelMajor string `json:"kernel_major"`
	OS          string `json:"os"`
	Arch        string `json:"arch"`
}

// Route is the fingerprint of one arm's route (design §3). When is "before"
// or "after"; two fingerprints of one arm that differ make the run invalid.
type Route struct {
	When          string         `json:"when"`
	Arm           string         `json:"arm"`
	Name          string         `json:"name"`
	ServerVersion string         `json:"server_version"`
	Profiles      []ProfileModel `json:"profiles"`
}

// ProfileModel is one profile's model as the server reported it.
type ProfileModel struct {
	Profile  contract.Profile `json:"profile"`
	Tag      string           `json:"tag"`
	Digest   string           `json:"digest"`
	Template string           `json:"template_sha256,omitempty"`
	Options  map[string]any   `json:"options,omitempty"`
	NumCtx   int              `json:"num_ctx,omitempty"` // read back from the server; 0 = not readable
}

// Warmup says what was done before an arm's first counted call.
type Warmup struct {
	Arm   string                `json:"arm"`
	Calls []contract.CallRecord `json:"calls"`
}

// Kind is the response kind of a trial (design §3).
type Kind string

// The response kinds. planned = the sum over all of them, always.
const (
	Answered   Kind = "answered"
	Abstained  Kind = "abstained"
	Refused    Kind = "refused"
	ModelError Kind = "model_error"
	InfraError Kind = "infra_error"
	Skipped    Kind = "skipped"
)

// Kinds lists every response kind in report order.
var Kinds = []Kind{Answered, Abstained, Refused, ModelError, InfraError, Skipped}

// Trial is one finished trial.
type Trial struct {
	Key        string    `json:"key"` // hex SHA-256 of case digest, arm digest and repeat
	Case       string    `json:"case"`
	CaseDigest string    `json:"case_digest"`
	Corpus     string    `json:"corpus"`
	Family     string    `json:"family"`
	Arm        string    `json:"arm"`
	ArmDigest  string    `json:"arm_digest"`
	Repeat     int       `json:"repeat"`
	Ordinal    int       `json:"ordinal"` // place in the plan
	Started    time.Time `json:"started"`

	Kind   Kind                `json:"kind"`
	Status contract.Status     `json:"status,omitempty"`
	Reason contract.ReasonCode `json:"reason,omitempty"`
	Error  string              `json:"error,omitempty"`

	// Class is the top-1 answer; Ranked all hypotheses' classes, best first.
	Class  string   `json:"class,omitempty"`
	Ranked []string `json:"ranked,omitempty"`
	Cause  string   `json:"cause,omitempty"`
	// Evidence are the item ids that the answer cites.
	Evidence []string                  `json:"evidence,omitempty"`
	Signals  contract.ConfidenceInputs `json:"signals,omitempty"`

	Sufficiency contract.SufficiencyVerdict `json:"sufficiency,omitempty"`
	Timing      Timing                      `json:"timing"`
	Calls       []contract.CallRecord       `json:"calls,omitempty"`
	Trace       []contract.TraceEvent       `json:"trace,omitempty"`
	Receipts    []contract.Receipt          `json:"receipts,omitempty"`
	Safety      *contract.SafetyCounters    `json:"safety,omitempty"` // nil = not measured
	// ResponseSHA256 is the hash of the exact answer in the transcript pack.
	ResponseSHA256 string `json:"response_sha256,omitempty"`
	// TranscriptSHA256 is the hash of the trial's whole line in the pack.
	TranscriptSHA256 string `json:"transcript_sha256,omitempty"`
}

// Timing are the parts of a trial's time, nanoseconds.
type Timing struct {
	Total    time.Duration `json:"total"`    // less Wait
	Wait     time.Duration `json:"wait"`     // our own semaphore
	Model    time.Duration `json:"model"`    // inside model calls, retries and time-outs included
	Overhead time.Duration `json:"overhead"` // Total − Model
	// Censored marks a trial that ended by time-out: its true time is longer.
	Censored bool `json:"censored,omitempty"`
}

// Note is something that happened to the run as a whole.
type Note struct {
	At    time.Time `json:"at"`
	Level string    `json:"level"` // "info", "warning", "invalid"
	Text  string    `json:"text"`
}

// Resume marks where a run went on.
type Resume struct {
	At       time.Time `json:"at"`
	Finished int       `json:"finished"` // trials found finished
	TornTail bool      `json:"torn_tail,omitempty"`
	// LinesSHA256 is as End's.
	LinesSHA256 string `json:"lines_sha256,omitempty"`
}

// Interrupt marks an early, orderly stop.
type Interrupt struct {
	At       time.Time `json:"at"`
	Why      string    `json:"why"` // "signal", "deadline", "infrastructure"
	Finished int       `json:"finished"`
	// LinesSHA256 is as End's.
	LinesSHA256 string `json:"lines_sha256,omitempty"`
}

// End closes a complete run. Planned = sum of Counts.
type End struct {
	At      time.Time    `json:"at"`
	Planned int          `json:"planned"`
	Counts  map[Kind]int `json:"counts"`
	// LinesSHA256 is the hex hash of every line before this one, newlines
	// included. A reader refuses a journal that does not fit it.
	LinesSHA256 string `json:"lines_sha256,omitempty"`
}
