package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/journal"
)

// newRunsCommand lists the runs in the runs folder.
func newRunsCommand(st *state) *cobra.Command {
	return &cobra.Command{
		Use: "runs", Short: "List the runs and their state", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			dirs, err := runner.Runs(st.flags.runs)
			if err != nil {
				return err
			}
			list := make([]runner.Status, len(dirs))
			for i, d := range dirs {
				list[i] = runner.Inspect(d)
			}
			return st.emit(list, func() error {
				rows := make([][]string, len(list))
				for i, s := range list {
					rows[i] = []string{s.ID, s.State, fmt.Sprintf("%d/%d", s.Finished, s.Planned), countsLine(s.Counts), remark(s)}
				}
				return st.table([]string{"run", "state", "trials", "responses", "remarks"}, rows)
			})
		},
	}
}

// remark is the most important thing to know about a run.
func remark(s runner.Status) string {
	switch {
	case s.Error != "":
		return s.Error
	case len(s.Invalid) > 0:
		return "invalid: " + s.Invalid[0]
	case len(s.Exploratory) > 0:
		return "exploratory: " + s.Exploratory[0]
	}
	return ""
}

// countsLine lists the response kinds that occurred, in report order.
func countsLine(counts map[journal.Kind]int) string {
	var parts []string
	for _, k := range journal.Kinds {
		if n := counts[k]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", k, n))
		}
	}
	if len(parts) == 0 {
		return "nothing answered"
	}
	return strings.Join(parts, ", ")
}
