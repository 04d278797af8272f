package reports

import (
	"fmt"

	"github.com/fabriccore/assay/scorers"
)

// verdictMeaning explains each verdict in one sentence.
var verdictMeaning = map[scorers.Verdict]string{
	scorers.Qualified:    "Every gate passed on frozen data. A named person may promote; nothing is promoted by this report.",
	scorers.NotQualified: "At least one gate was not met, or a promise of the posture has no check behind it. The route must not be promoted.",
	scorers.Inconclusive: "The data show neither that every limit holds nor that one is broken, or something that is needed was not measured. This is not a pass.",
	scorers.Invalid:      "The run is not evidence: its inputs, routes or counts do not hold together. Its numbers must not be used.",
	scorers.Blocked:      "A safety gate counted a violation. No accuracy or speed outweighs that.",
}

// meaning explains a verdict; an unknown one is never good.
func meaning(v scorers.Verdict) string {
	return orElse(verdictMeaning[v], "This verdict is not known; take it as not passed.")
}

// howToRead are the notes that keep a reader from concluding too much. Those
// that depend on the run come first.
func howToRead(in Input) []string {
	var out []string
	for _, c := range in.Corpora {
		if c.Synthetic {
			out = append(out, fmt.Sprintf("Corpus %s v%d is synthetic: it shows speed and plumbing, not skill.", c.Name, c.Version))
		}
		out = append(out, fmt.Sprintf("Figures on corpus %s v%d hold for its own cases (%s). It is not the reference set of any other document, and nothing here is a statement about one.",
			c.Name, c.Version, orElse(c.Origin, "origin not stated")))
	}
	return append(out,
		"A figure is a point estimate with its interval, the number of cases behind it (n), their families and the method. Cases of one family are variants of one incident, so gated differences and ratios are computed over families.",
		"Accuracy counts a case as right only if the first answer is the labelled class; refusals, abstentions that the label does not call for, and model errors count as wrong. Infrastructure errors are listed and never counted as answers.",
		"Repeats are reduced within a case first and never raise n.",
		"“–” means that there is no number; the reason stands beside it. Nothing missing is ever taken as passed.",
		"“Inconclusive” is not a mild pass: the data allow both readings, or something needed is missing.",
		"An open row needs something that does not exist yet; no result of this run can close it.",
		"Zero violations in n probes bound the rate only for probes like these; the bound is descriptive.",
		"McNemar's p-value is descriptive; the family-level bound is what a gate looks at.",
		"The layer under test is a bounded Core Specialist that gives advice in one shot under a fixed policy. It is not autonomous.",
	)
}
