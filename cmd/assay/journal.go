package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/reports"
	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/journal"
)

// newJournalCommand prints a run's journal.
func newJournalCommand(st *state) *cobra.Command {
	var only string
	cmd := &cobra.Command{
		Use: "journal RUN", Short: "Print a run's journal as JSON lines",
		Long: `Print the journal of a run, given by folder, by a part of its id or as
"latest", as JSON lines, whether it is still plain or already packed. Each line
holds one message with exactly one field: run, route, warmup, trial, note,
resume, interrupt or end.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return st.printJournal(args[0], only) },
	}
	cmd.Flags().StringVar(&only, "only", "", "print only messages with this field, e.g. trial")
	return cmd
}

func (st *state) printJournal(name, only string) error {
	switch only {
	case "", "run", "route", "warmup", "trial", "note", "resume", "interrupt", "end":
	default:
		return usagef("--only %q: give run, route, warmup, trial, note, resume, interrupt or end", only)
	}
	dir, err := runner.FindRun(st.flags.runs, name)
	if err != nil {
		return err
	}
	r, err := journal.OpenRun(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	w := bufio.NewWriter(st.Stdout)
	for m, err := range r.All() {
		if err != nil {
			w.Flush()
			return err
		}
		if only != "" && m.Field() != only {
			continue
		}
		line := r.Raw()
		if st.StdoutIsTTY { // elsewhere the very bytes
			line = reports.EscapeHidden(line)
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Torn() {
		fmt.Fprintf(st.Stderr, "assay: the last line of %s is torn and left out; 'assay resume' repairs it\n", dir)
	}
	return nil
}
