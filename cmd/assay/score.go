package main

import (
	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/scorers"
)

// newScoreCommand scores a run's journal again and prints the result as JSON.
func newScoreCommand(st *state) *cobra.Command {
	return &cobra.Command{
		Use: "score RUN", Short: "Join labels to a run's outcomes and print every figure as JSON", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := scoreRun(st, args[0])
			if err != nil {
				return err
			}
			return writeJSON(st.Stdout, r)
		},
	}
}

// scoreRun loads a run folder and scores it.
func scoreRun(st *state, dir string) (scorers.Result, error) {
	r, err := openRun(st, dir)
	if err != nil {
		return scorers.Result{}, err
	}
	return scorers.Score(r.input)
}
