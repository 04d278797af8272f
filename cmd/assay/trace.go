package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists/contract"
)

// traced is a trial with its transcript.
type traced struct {
	Trial      journal.Trial       `json:"trial"`
	Chain      string              `json:"receipt_chain"` // "verifies", "none" or what is wrong
	Transcript *journal.Transcript `json:"transcript,omitempty"`
}

// newTraceCommand shows one trial's way through the stack.
func newTraceCommand(st *state) *cobra.Command {
	var transcript bool
	c := &cobra.Command{
		Use: "trace RUN TRIAL", Short: "Show one trial's steps, calls and receipts",
		Long: `Show how one trial went through the stack: its steps in order, its model calls
with their times, its receipts and whether their chain verifies. TRIAL is the
start of a trial's key, or CASE/ARM. --transcript adds the exact exchanged text.`,
		Example: "  assay trace latest c-180f8a26/core:minilm-smollm2 --transcript",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := findTrial(st, args[0], args[1], transcript)
			if err != nil {
				return err
			}
			return st.emit(t, func() error { return printTrace(st, t) })
		},
	}
	c.Flags().BoolVar(&transcript, "transcript", false, "with the exact requests and answers")
	return c
}

func findTrial(st *state, run, key string, transcript bool) (traced, error) {
	dir, err := runner.FindRun(st.flags.runs, run)
	if err != nil {
		return traced{}, err
	}
	ms, err := journalOf(dir)
	if err != nil {
		return traced{}, err
	}
	var found []journal.Trial
	for m, err := range ms {
		if err != nil {
			return traced{}, err
		}
		if t := m.Trial; t != nil && (strings.HasPrefix(t.Key, key) || t.Case+"/"+t.Arm == key) {
			found = append(found, *t)
		}
	}
	if len(found) == 0 {
		return traced{}, usagef("run %s has no trial %q; 'assay journal %s --only trial' lists them", run, key, run)
	}
	if len(found) > 1 && found[0].Key != key {
		return traced{}, usagef("%d trials of run %s begin with %q; give more of the key", len(found), run, key)
	}
	out := traced{Trial: found[0], Chain: "none"}
	if len(found[0].Receipts) > 0 {
		out.Chain = "verifies"
		if err := contract.VerifyChain(found[0].Receipts); err != nil {
			out.Chain = err.Error()
		}
	}
	if !transcript {
		return out, nil
	}
	pack, err := journal.OpenTranscripts(dir)
	if err != nil {
		return traced{}, err
	}
	defer pack.Close()
	x, err := pack.Get(found[0].Key)
	if errors.Is(err, journal.ErrNoTranscript) {
		return out, nil
	}
	out.Transcript = &x
	return out, err
}

func printTrace(st *state, x traced) error {
	t := x.Trial
	w := st.Stdout
	fmt.Fprintf(w, "trial %s\ncase %s, arm %s, repeat %d: %s", t.Key, t.Case, t.Arm, t.Repeat, t.Kind)
	if t.Class != "" {
		fmt.Fprintf(w, ", class %s", oneLine(t.Class))
	}
	if t.Reason != "" {
		fmt.Fprintf(w, " (%s)", t.Reason)
	}
	if t.Error != "" {
		fmt.Fprintf(w, "\nerror: %s", oneLine(t.Error))
	}
	fmt.Fprintf(w, "\ntotal %v = model %v + overhead %v; waited %v for a slot\n", ms(t.Timing.Total), ms(t.Timing.Model), ms(t.Timing.Overhead), ms(t.Timing.Wait))
	rows := make([][]string, 0, len(t.Trace))
	for _, e := range t.Trace {
		var detail []string
		for _, k := range sortedKeys(e.Detail) {
			detail = append(detail, k+"="+oneLine(e.Detail[k]))
		}
		rows = append(rows, []string{ms(e.At), e.Step, strings.Join(detail, " ")})
	}
	if len(rows) > 0 {
		if err := st.table([]string{"at", "step", "detail"}, rows); err != nil {
			return err
		}
	}
	rows = nil
	for _, c := range t.Calls {
		rows = append(rows, []string{string(c.Kind), c.Model, ms(c.Timing.Load), ms(c.Timing.Prefill), ms(c.Timing.Decode), ms(c.Timing.Total),
			fmt.Sprintf("%d → %d", c.PromptTokens, c.OutputTokens), oneLine(c.Error)})
	}
	if len(rows) > 0 {
		if err := st.table([]string{"call", "model", "load", "prefill", "decode", "total", "tokens", "error"}, rows); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "receipts: %d, chain: %s\n", len(t.Receipts), x.Chain)
	if x.Transcript != nil {
		for i, c := range x.Transcript.Calls {
			fmt.Fprintf(w, "\ncall %d request:\n%s\ncall %d answer:\n%s\n", i+1, oneLine(string(c.Request)), i+1, oneLine(string(c.Response)))
		}
	}
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }
