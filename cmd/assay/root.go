package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/reports"
)

// run executes one command line and returns its exit code.
func run(st *state) int {
	root := newRoot(st)
	root.SetArgs(st.Args)
	root.SetIn(st.Stdin)
	root.SetOut(st.Stdout)
	root.SetErr(st.Stderr)
	cmd, err := root.ExecuteC()
	err = helped(cmd, err)
	if err != nil && err.Error() != "" {
		for _, l := range strings.Split(strings.TrimSpace(err.Error()), "\n") { // one line each for several things missing
			fmt.Fprintln(st.Stderr, "assay: "+oneLine(l))
		}
	}
	return exitCode(err)
}

// helped says what to do where cobra only says what is wrong.
func helped(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	text, suggested, _ := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	switch {
	case suggested != "":
		return usagef("%s; did you mean %s? See '%s --help'", text, strings.Join(strings.Fields(suggested), " or "), cmd.CommandPath())
	case strings.HasPrefix(text, "unknown command "):
		return usagef("%s; see '%s --help'", text, cmd.CommandPath())
	case strings.HasPrefix(text, "accepts ") && strings.Contains(text, " arg(s), received "):
		return usagef("%s; call it as '%s'; see '%s --help'", text, strings.TrimSuffix(cmd.UseLine(), " [flags]"), cmd.CommandPath())
	}
	return err
}

// newRoot builds the command tree.
func newRoot(st *state) *cobra.Command {
	root := &cobra.Command{
		Use:           "assay",
		Short:         "Decide with evidence whether a local model route may be promoted",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	f := root.PersistentFlags()
	f.StringVar(&st.flags.ollama, "ollama", "", "URL of an Ollama server (default: $OLLAMA_HOST, a running one, an installed one, or our own build)")
	f.StringVar(&st.flags.runs, "runs", orDefault(st.Getenv("ASSAY_RUNS"), "runs"), "folder that holds the runs")
	f.StringVar(&st.flags.format, "format", orDefault(st.Getenv("ASSAY_FORMAT"), "text"), "output on stdout: text or json")
	f.BoolVar(&st.flags.noProgress, "no-progress", st.Getenv("ASSAY_NO_PROGRESS") != "", "plain lines instead of a progress bar")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if st.flags.format != "text" && st.flags.format != "json" {
			return usagef("--format %q is not known: give text or json", st.flags.format)
		}
		return nil
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%v; see '%s --help'", err, cmd.CommandPath())
	})
	for _, c := range commands(st) {
		root.AddCommand(c)
	}
	return root
}

func newVersionCommand(st *state) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the build", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(st.Stdout, "assay", codeVersion())
			return err
		},
	}
}

func orDefault(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

// oneLine keeps an error on one line and free of control characters.
func oneLine(s string) string { return reports.Line(s) }
