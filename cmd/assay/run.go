package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/runner"
)

// newRunCommand asks a suite's cases and keeps a journal.
func newRunCommand(st *state) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run [SUITE]", Short: "Ask a suite's cases and keep a journal",
		Long: `Ask the cases of a suite, by name or file, in a counterbalanced order and keep
every answer in a journal. Nothing is scored. With --corpus and --arm an ad-hoc
suite is made instead, which is exploratory. The run's folder is printed last.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := suiteName(&f, args)
			if err != nil {
				return err
			}
			return st.printRun(st.runSuite(&f, name, nil))
		},
	}
	f.add(cmd)
	st.envTwins(cmd)
	return cmd
}

// suiteName is the suite that the arguments name, "" for an ad-hoc one.
func suiteName(f *runFlags, args []string) (string, error) {
	switch {
	case len(args) > 0 && len(f.corpora) > 0:
		return "", usagef("give a suite or --corpus, not both")
	case len(args) > 0:
		return args[0], nil
	case len(f.corpora) > 0:
		return "", nil
	}
	return "", usagef("name a suite (%s), or give --corpus and --arm", strings.Join(benchmarks.SuiteNames("."), ", "))
}

// envTwins gives each of a command's own flags its twin ASSAY_NAME (design
// §5); a flag on the command line wins. Lists are separated by commas.
func (st *state) envTwins(cmd *cobra.Command) {
	cmd.PreRunE = func(c *cobra.Command, _ []string) error {
		var err error
		c.LocalNonPersistentFlags().VisitAll(func(fl *pflag.Flag) {
			name := "ASSAY_" + strings.ToUpper(strings.ReplaceAll(fl.Name, "-", "_"))
			v := st.Getenv(name)
			if fl.Changed || v == "" || fl.Name == "help" || err != nil {
				return
			}
			values := []string{v}
			if fl.Value.Type() == "stringArray" {
				values = strings.Split(v, ",")
			}
			for _, v := range values {
				if serr := c.Flags().Set(fl.Name, v); serr != nil {
					err = usagef("%s=%s: %v", name, v, serr)
				}
			}
		})
		return err
	}
}

// newResumeCommand goes on with a run that stopped.
func newResumeCommand(st *state) *cobra.Command {
	var deadline time.Duration
	cmd := &cobra.Command{
		Use: "resume RUN", Short: "Go on with a run that was interrupted or killed",
		Long: `Go on with a run, given by folder, by a part of its id or as "latest". Only
trials without a line in the journal are asked. A changed corpus, arm, plan or
build is refused.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return st.printRun(st.resumeRun(args[0], deadline)) },
	}
	cmd.Flags().DurationVar(&deadline, "deadline", 0, "end the run in order after this time")
	st.envTwins(cmd)
	return cmd
}

// resumeRun plans again what a run was started with and goes on.
func (st *state) resumeRun(name string, deadline time.Duration) (runner.Summary, error) {
	if deadline < 0 {
		return runner.Summary{}, usagef("--deadline %v is negative; give a duration like 30m", deadline)
	}
	dir, err := runner.FindRun(st.flags.runs, name)
	if err != nil {
		return runner.Summary{}, err
	}
	m, err := runner.ReadManifest(dir)
	if err != nil {
		return runner.Summary{}, err
	}
	c := chosen{suite: m.Suite, selection: m.Selection, exploratory: m.Exploratory}
	if c.corpora, err = m.Suite.LoadCorpora("."); err != nil {
		return runner.Summary{}, err
	}
	if err := m.CheckCorpora(c.corpora); err != nil { // before a server is started
		return runner.Summary{}, err
	}
	if err := st.writable(dir, "free or unlock it and resume again", c.corpora); err != nil {
		return runner.Summary{}, err
	}
	ctx, abort, cancel := st.interruptible()
	defer cancel()
	began := st.Now()
	w, err := st.wireInTime(ctx, c.suite, c.corpora, deadline)
	if err != nil {
		return runner.Summary{}, err
	}
	defer w.Close()
	p, err := st.plan(c, w.arms)
	if err != nil {
		return runner.Summary{}, err
	}
	return st.execute(ctx, w, runner.Config{Plan: p, Deadline: deadline, Began: began}, c, abort, func(ctx context.Context, cfg runner.Config) (runner.Summary, error) {
		return runner.Resume(ctx, dir, cfg)
	})
}

// dryRun plans without a server and prints what would be run.
func (st *state) dryRun(ctx context.Context, c chosen) error {
	p, err := st.offlinePlan(ctx, c)
	if err != nil {
		return err
	}
	plan := dryPlan{
		Suite: p.Suite.Name, Trials: p.Len(), Cases: p.Cases(), Families: p.Families(), Arms: p.Suite.Arms, Repeats: p.Suite.Repeats, Power: powerLine(p),
		Exploratory: p.Suite.Exploratory(c.exploratory, c.corpora, runner.Code{Version: codeVersion()}.Dirty(), false),
	}
	return st.emit(plan, func() error {
		fmt.Fprintf(st.Stdout, "suite %s: %d trials = %d cases (%d families) × %d arms × %d repeats\n%s\n",
			plan.Suite, plan.Trials, plan.Cases, plan.Families, len(plan.Arms), plan.Repeats, plan.Power)
		for _, why := range plan.Exploratory {
			fmt.Fprintln(st.Stdout, "exploratory:", why)
		}
		return nil
	})
}

// dryPlan is what --dry-run shows.
type dryPlan struct {
	Suite       string   `json:"suite"`
	Trials      int      `json:"trials"`
	Cases       int      `json:"cases"`
	Families    int      `json:"families"`
	Arms        []string `json:"arms"`
	Repeats     int      `json:"repeats"`
	Power       string   `json:"power"`
	Exploratory []string `json:"exploratory"`
}

// offlinePlan is the plan of a suite whose models and prompts aren't known.
func (st *state) offlinePlan(ctx context.Context, c chosen) (*benchmarks.Plan, error) {
	arms, err := benchmarks.Resolve(ctx, c.suite, c.corpora, threads(), benchmarks.Offline{})
	if err != nil {
		return nil, err
	}
	return benchmarks.NewPlan(c.suite, arms, c.corpora, c.selection)
}

// powerLine is the power before the run, with what it assumes.
func powerLine(p *benchmarks.Plan) string {
	s := p.Suite
	if s.Effect == 0 {
		return "power: the suite declares no effect"
	}
	f := p.Power()
	if !f.OK() {
		return "power: " + f.Missing
	}
	return fmt.Sprintf("power: %.2f to show a gain of %.2f at alpha %.2f one-sided, if %.0f %% of the cases are discordant and the family correlation is %.2f",
		f.Point, s.Effect, s.Alpha, 100*s.Discordant, s.ICC)
}

// printRun prints what became of a run on stdout, and passes its error on. A
// summary without an ID is no run.
func (st *state) printRun(sum runner.Summary, err error) error {
	if sum.ID == "" {
		return err
	}
	perr := st.emit(sum, func() error {
		fmt.Fprintf(st.Stdout, "%d of %d trials in %v: %s\n", sum.Finished, sum.Planned, sum.Elapsed.Round(time.Millisecond), countsLine(sum.Counts))
		for _, why := range sum.Invalid {
			fmt.Fprintln(st.Stdout, "invalid:", why)
		}
		_, err := fmt.Fprintln(st.Stdout, sum.Dir)
		return err
	})
	if err == nil {
		err = perr
	}
	return err
}

// sortedKeys lists a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
