package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/reports"
	"github.com/fabriccore/assay/runner/ollamad"
	"github.com/fabriccore/assay/runner/progress"
)

// newDoctorCommand says item by item whether a qualification can run here.
func newDoctorCommand(st *state) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check what a qualification needs from this machine",
		Long: `Check, item by item, what a qualification needs from this machine. Nothing is
built, downloaded or started. Exit code 0: everything is there or can be had
with what is there; 5: something needed is missing.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, cancel := st.background()
			defer cancel()
			checks := ollamad.Doctor(ctx, ollamaConfig(st))
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := printChecks(st, checks); err != nil {
				return err
			}
			if !ollamad.Healthy(checks) {
				return exitError{code: exitInfra}
			}
			return nil
		},
	}
}

func printChecks(st *state, checks []ollamad.Check) error {
	if st.flags.format == "json" {
		return writeJSON(st.Stdout, checks)
	}
	rows := make([][]string, len(checks))
	for i, check := range checks {
		rows[i] = []string{string(check.Status), check.Name, check.Detail}
	}
	if err := st.table([]string{"status", "item", "found"}, rows); err != nil {
		return err
	}
	for _, status := range []ollamad.Status{ollamad.Missing, ollamad.Optional} {
		for _, check := range checks {
			if check.Status == status && check.Fix != "" {
				if _, err := fmt.Fprintf(st.Stdout, "%s %s: %s\n", status, check.Name, check.Fix); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ollamaConfig is the managed Ollama as this process is set up.
func ollamaConfig(st *state) ollamad.Config {
	return ollamad.Config{
		URL:        st.flags.ollama,
		Env:        st.Env,
		CacheDir:   st.CacheDir,
		Executable: st.Executable,
		Now:        st.Now,
	}
}

// reporter shows the progress of long work on standard error.
func reporter(st *state) progress.Reporter {
	return progress.Choose(st.Stderr, st.StderrIsTTY, st.flags.noProgress, st.Width)
}

// newSuperviseCommand is the process that ends a started server together with
// assay; assay calls it itself.
func newSuperviseCommand(st *state) *cobra.Command {
	return &cobra.Command{
		Use: "__supervise", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return exitError{code: ollamad.SuperviseMain(args, st.Stdin, st.Stdout)}
		},
	}
}

// printTable writes a borderless table with left-aligned columns.
func writeJSON(w io.Writer, value any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(reports.EscapeHidden(b.Bytes()))
	return err
}
