package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/benchmarks"
)

// newSuiteCommand shows suites and what they plan.
func newSuiteCommand(st *state) *cobra.Command {
	cmd := &cobra.Command{Use: "suite", Short: "List and show suites and their plans"}
	cmd.AddCommand(suiteList(st), suiteShow(st), suitePlan(st))
	return cmd
}

func suiteList(st *state) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the suites in ./benchmarks/suites and those that came with assay", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var suites []benchmarks.Suite
			for _, n := range benchmarks.SuiteNames(".") {
				s, err := benchmarks.FindSuite(".", n)
				if err != nil {
					return err
				}
				suites = append(suites, s)
			}
			return st.emit(suites, func() error {
				rows := make([][]string, len(suites))
				for i, s := range suites {
					rows[i] = []string{s.Name, pins(s), strings.Join(s.Arms, " "), s.Description}
				}
				return st.table([]string{"suite", "corpora", "arms", "about"}, rows)
			})
		},
	}
}

// pins lists a suite's corpora and marks those that are not pinned.
func pins(s benchmarks.Suite) string {
	out := make([]string, len(s.Corpora))
	for i, c := range s.Corpora {
		out[i] = c.Name
		if c.Digest == "" {
			out[i] += " (not pinned)"
		}
	}
	return strings.Join(out, ", ")
}

func suiteShow(st *state) *cobra.Command {
	return &cobra.Command{
		Use: "show SUITE", Short: "Show a suite with its routes", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := benchmarks.FindSuite(".", args[0])
			if err != nil {
				return err
			}
			return st.emit(s, func() error { return st.showSuite(s) })
		},
	}
}

func (st *state) showSuite(s benchmarks.Suite) error {
	fmt.Fprintf(st.Stdout, "%s  %s  %s\n%s\n\n", s.Name, s.File, s.Digest, s.Description)
	rows := [][]string{{"corpora", pins(s)}}
	for _, a := range s.Arms {
		rows = append(rows, []string{"arm", a + part(s, a)})
	}
	for _, n := range sortedKeys(s.Routes) {
		for p, m := range s.Routes[n].Profiles {
			o := m.Options
			rows = append(rows, []string{"route " + n, fmt.Sprintf("%s → %s  num_ctx %d, num_predict %d, num_thread %d, seed %d, temperature %v, keep_alive %v, think %v",
				p, m.Model, o.NumCtx, o.NumPredict, o.NumThread, o.Seed, o.Temperature, o.KeepAlive, o.Think)})
		}
	}
	rows = append(rows,
		[]string{"repeats", fmt.Sprint(s.Repeats)}, []string{"in flight", fmt.Sprint(s.InFlight)},
		[]string{"call time-out", fmt.Sprint(s.CallTimeout)}, []string{"seed", fmt.Sprint(s.Seed)},
		[]string{"effect", fmt.Sprint(s.Effect)}, []string{"alpha", fmt.Sprint(s.Alpha)}, []string{"policy", s.Policy},
	)
	return st.table([]string{"", ""}, rows)
}

// part says which part an arm plays.
func part(s benchmarks.Suite, arm string) string {
	switch arm {
	case s.Candidate:
		return "  (candidate)"
	case s.LatencyReference:
		return "  (latency reference)"
	case s.Control:
		return "  (negative control)"
	}
	for _, m := range s.ModelFree {
		if m == arm {
			return "  (model-free baseline)"
		}
	}
	return ""
}

// plannedTrial is a row of `suite plan`.
type plannedTrial struct {
	Ordinal int    `json:"ordinal"`
	Corpus  string `json:"corpus"`
	Case    string `json:"case"`
	Family  string `json:"family"`
	Arm     string `json:"arm"`
	Repeat  int    `json:"repeat"`
}

func suitePlan(st *state) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "plan [SUITE]", Short: "Show the trials of a suite in order, and its power",
		Long: `Show the trials of a suite in the order in which they would be asked, and on
stderr how many there are and what they can show. No server is touched, so the
plan's digest is not the one of a run, which covers models and prompts too.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := suiteName(&f, args)
			if err != nil {
				return err
			}
			c, err := f.choose(name)
			if err != nil {
				return err
			}
			return st.printPlan(c)
		},
	}
	f.add(cmd)
	st.envTwins(cmd)
	return cmd
}

func (st *state) printPlan(c chosen) error {
	p, err := st.offlinePlan(context.Background(), c)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(st.Stdout)
	enc := json.NewEncoder(out)
	for i := range p.Len() {
		t := p.Trial(i)
		row := plannedTrial{i, t.Corpus.Meta.Name, t.Case.ID, t.Case.Family, p.Arms[t.Arm].Name, t.Repeat}
		if st.flags.format == "json" {
			err = enc.Encode(row)
		} else {
			_, err = fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%d\n", row.Ordinal, row.Corpus, row.Case, row.Arm, row.Repeat)
		}
		if err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(st.Stderr, "%d trials: %d cases of %d families × %d arms × %d repeats\n%s\n", p.Len(), p.Cases(), p.Families(), len(p.Arms), p.Suite.Repeats, powerLine(p))
	for _, why := range c.exploratory {
		fmt.Fprintln(st.Stderr, "exploratory:", why)
	}
	return nil
}
