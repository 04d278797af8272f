package reports

import (
	"fmt"
	"sort"
	"time"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers"
	"github.com/fabriccore/assay/specialists/contract"
)

// Input is what a document is built from. Only Result must be filled; what is
// left out shows as open, not measured or missing, never as passed.
type Input struct {
	Version    string    // of the program that writes the report
	CodeDigest string    // of the program that ran the trials
	Now        time.Time // GeneratedAt

	Run         Run
	Suite       Suite
	Exploratory []string
	Host        journal.Host
	Corpora     []Corpus
	Taxonomies  []contract.Taxonomy
	Arms        []benchmarks.Arm
	// Fingerprints are the journal's route messages, in journal order.
	Fingerprints []journal.Route
	Power        []Power
	Looks        []Look
	Result       scorers.Result

	// Posture and Rules bind a word or a rule (by Word or ID) to a check; what
	// is absent is looked for among the gates (see bind.go) and else open.
	Posture []PostureWord
	Rules   []Rule
	// Metrics fill rows of the fifteen, by ID.
	Metrics []Metric
	// OpenGates are open rows beside the open gates of Result, such as the
	// production gates (F-193).
	OpenGates   []OpenGate
	NotMeasured []string // beside Result.NotMeasured
	Deviations  []string
	Notes       []journal.Note
}

// Build makes the document of a scored run. It orders, completes and rounds,
// and computes no figure anew: every figure stands in in.Result. The verdict
// is in.Result's, or a worse one with the reason in Capped.
func Build(in Input) Document {
	d := Document{
		Schema:        Schema,
		GeneratedAt:   in.Now,
		Tool:          Tool{Name: "assay", Version: in.Version, Digest: in.CodeDigest},
		Run:           in.Run,
		Suite:         in.Suite,
		Verdict:       in.Result.Verdict,
		Dimensions:    in.Result.Dimensions,
		Reasons:       in.Result.Reasons,
		Exploratory:   in.Exploratory,
		AutonomyClaim: AutonomyClaim,
		Host:          in.Host,
		Corpora:       in.Corpora,
		Taxonomies:    in.Taxonomies,
		Arms:          in.Arms,
		Routes:        pairRoutes(in.Fingerprints),
		Power:         in.Power,
		Looks:         in.Looks,
		Result:        in.Result,
		Posture:       bindPosture(in.Posture, in.Result.Gates),
		Rules:         bindRules(in.Rules, in.Result.Gates),
		Metrics:       completeMetrics(in.Metrics, in.Result),
		OpenGates:     openGates(in.Result.Gates, in.OpenGates),
		NotMeasured:   merge(in.Result.NotMeasured, in.NotMeasured),
		Deviations:    in.Deviations,
		Notes:         in.Notes,
		HowToRead:     howToRead(in),
	}
	d = tidy(d)
	d.Verdict, d.Capped = capVerdict(d)
	return d
}

// pairRoutes puts each arm's fingerprints side by side. The first "before" and
// the last "after" of an arm count: a resumed run reads them again.
func pairRoutes(fps []journal.Route) []Route {
	at := map[string]int{}
	var out []Route
	for _, fp := range fps {
		i, ok := at[fp.Arm]
		if !ok {
			i = len(out)
			at[fp.Arm] = i
			out = append(out, Route{Arm: fp.Arm})
		}
		c := fp
		switch fp.When {
		case "before":
			if out[i].Before == nil {
				out[i].Before = &c
				continue
			}
			// A second "before" is a resume; it must equal the first.
			out[i].Drift = merge(out[i].Drift, out[i].Before.Differs(c))
		case "after":
			out[i].After = &c
		}
	}
	for i, r := range out {
		if r.Before != nil && r.After != nil {
			out[i].Drift = merge(r.Drift, r.Before.Differs(*r.After))
		}
	}
	return out
}

// options prints model options in key order.
func options(m map[string]any) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	s := ""
	for i, k := range keys {
		if i > 0 {
			s += " "
		}
		s += fmt.Sprintf("%s=%v", k, m[k])
	}
	return orDash(s)
}

// openGates joins the gates that can't pass yet with the given open rows. A row
// that only sums up open gates is left out: they are there themselves.
func openGates(gates []scorers.Gate, more []OpenGate) []OpenGate {
	var out []OpenGate
	for _, g := range gates {
		if g.Open && !(boundRow(g.ID) && len(g.Evidence) > 0) {
			out = append(out, OpenGate{ID: g.ID, Requires: g.Requires, Why: g.Why, Evidence: g.Evidence})
		}
	}
	for _, o := range more {
		known := false
		for _, have := range out {
			known = known || have.ID == o.ID
		}
		if !known {
			out = append(out, o)
		}
	}
	return out
}

// merge appends what is not there yet, in order.
func merge(a, b []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, list := range [][]string{a, b} {
		for _, s := range list {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
