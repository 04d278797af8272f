package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/scorers"
)

// newGateCommand prints the acceptance rows of a run and ends with the exit
// code of its verdict.
func newGateCommand(st *state) *cobra.Command {
	return &cobra.Command{
		Use: "gate RUN", Short: "Apply the gates to a run; the exit code is the verdict", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			run, err := openRun(st, args[0])
			if err != nil {
				return err
			}
			d, err := run.document(st) // its verdict is the report's
			if err != nil {
				return err
			}
			r := d.Result
			r.Verdict = d.Verdict
			if err := printGates(st, r); err != nil {
				return err
			}
			return verdictError(d)
		},
	}
}

func printGates(st *state, r scorers.Result) error {
	if st.flags.format == "json" {
		return writeJSON(st.Stdout, struct {
			Verdict        scorers.Verdict     `json:"verdict"`
			Infrastructure bool                `json:"infrastructure,omitempty"`
			Dimensions     []scorers.Dimension `json:"dimensions"`
			Gates          []scorers.Gate      `json:"gates"`
			Reasons        []string            `json:"reasons"`
		}{r.Verdict, r.Infrastructure, r.Dimensions, r.Gates, r.Reasons})
	}
	w := tabwriter.NewWriter(st.Stdout, 0, 4, 2, ' ', 0)
	for _, g := range r.Gates {
		word := string(g.Verdict)
		if g.Open {
			word += " (open)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", g.ID, word, oneLine(g.Why))
	}
	fmt.Fprintf(w, "\nverdict\t%s\t\n", r.Verdict)
	if err := w.Flush(); err != nil {
		return err
	}
	for _, reason := range r.Reasons {
		if _, err := fmt.Fprintln(st.Stdout, "-", oneLine(reason)); err != nil {
			return err
		}
	}
	return nil
}

// verdictCode is the exit code of a result (design §5). Infrastructure that
// kept a verdict from being reached is its own code.
func verdictCode(r scorers.Result) int {
	switch r.Verdict {
	case scorers.Qualified:
		return exitQualified
	case scorers.NotQualified:
		return exitNotQualified
	case scorers.Blocked:
		return exitBlocked
	case scorers.Invalid:
		return exitFrozen
	}
	if r.Infrastructure {
		return exitInfra
	}
	return exitInconclusive
}
