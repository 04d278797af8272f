package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/reports"
	"github.com/fabriccore/assay/runner"
)

// newQualifyCommand is the main job: run, score, gate and report in one.
func newQualifyCommand(st *state) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "qualify [SUITE]",
		Short: "Run a suite, score it, apply the gates and write the report",
		Long: `Replay a suite's frozen corpora through its arms, score the answers, apply the
gates and write the report. Finds, starts or builds an Ollama and gets the
models it needs. The exit code is the verdict: 0 qualified, 1 not qualified,
3 inconclusive, 4 blocked, 5 infrastructure, 6 frozen input changed or invalid.`,
		Example: `  assay qualify
  assay qualify --model llama3.2:3b
  assay qualify --corpus corpus/development-v0 --arm deterministic --limit 10`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && len(f.corpora) == 0 {
				args = []string{"pilot"}
			}
			name, err := suiteName(&f, args)
			if err != nil {
				return err
			}
			return st.qualify(&f, name)
		},
	}
	f.add(c)
	st.envTwins(c)
	return c
}

func (st *state) qualify(f *runFlags, name string) error {
	if err := knownFormats(f.outs); err != nil {
		return err
	}
	sum, err := st.runSuite(f, name, labelled)
	if err != nil && !errors.Is(err, runner.ErrDeadline) {
		return err
	}
	if sum.Dir == "" { // --dry-run, or a deadline before there was a run
		return err
	}
	doc, derr := st.reportRun(sum.Dir, f.outs)
	if derr != nil {
		return derr
	}
	return verdictError(doc)
}

// labelled refuses corpora whose labels can't be joined, before hours are spent
// on a run that could never be scored.
func labelled(corpora []*corpus.Corpus) error {
	for _, c := range corpora {
		if _, err := label.Load("", c); err != nil {
			return err
		}
	}
	return nil
}

// runSuite plans and runs a suite; check, if it is not nil, may refuse its
// corpora first. The summary has no folder after --dry-run.
func (st *state) runSuite(f *runFlags, name string, check func([]*corpus.Corpus) error) (runner.Summary, error) {
	c, err := f.choose(name)
	if err == nil && check != nil {
		err = check(c.corpora)
	}
	if err != nil {
		return runner.Summary{}, err
	}
	tags, err := f.tagMap()
	if err != nil {
		return runner.Summary{}, err
	}
	ctx, abort, cancel := st.interruptible()
	defer cancel()
	if f.dryRun {
		return runner.Summary{}, st.dryRun(ctx, c)
	}
	if _, err := st.offlinePlan(ctx, c); err != nil { // before a server is started or built
		return runner.Summary{}, err
	}
	if err := st.writable(st.flags.runs, "free or unlock it, or choose another one with --runs DIR", c.corpora); err != nil {
		return runner.Summary{}, err
	}
	began := st.Now()
	w, err := st.wireInTime(ctx, c.suite, c.corpora, f.deadline)
	if err != nil {
		return runner.Summary{}, err
	}
	defer w.Close()
	p, err := st.plan(c, w.arms)
	if err != nil {
		return runner.Summary{}, err
	}
	cfg := runner.Config{Plan: p, Deadline: f.deadline, Began: began, Tags: tags}
	return st.execute(ctx, w, cfg, c, abort, func(ctx context.Context, cfg runner.Config) (runner.Summary, error) { return runner.Execute(ctx, cfg) })
}

// execute fills in what every run needs and starts it.
func (st *state) execute(ctx context.Context, w *wiring, cfg runner.Config, c chosen, abort <-chan struct{}, start func(context.Context, runner.Config) (runner.Summary, error)) (runner.Summary, error) {
	var err error
	if cfg.Targets, err = w.targets(ctx, cfg.Plan.Arms); err != nil {
		return runner.Summary{}, err
	}
	if cfg.Code, err = runner.ReadCode(codeVersion(), st.Executable); err != nil {
		return runner.Summary{}, err
	}
	cfg.Exploratory = c.suite.Exploratory(c.exploratory, c.corpora, cfg.Code.Dirty(), false)
	cfg.Runs, cfg.StateDir, cfg.Threads, cfg.Host = st.flags.runs, st.StateDir, threads(), runner.ReadHost()
	cfg.Abort, cfg.Progress, cfg.Now = abort, reporter(st), st.Now
	return start(ctx, cfg)
}

// interruptible is a context that the first signal cancels for an orderly
// stop, and a channel that the second closes. A third ends the process.
func (st *state) interruptible() (context.Context, <-chan struct{}, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	abort := make(chan struct{})
	if st.Listen == nil {
		return ctx, abort, cancel
	}
	signals, stop := st.Listen()
	over := make(chan struct{})
	go func() {
		select {
		case <-over:
			return
		case <-signals:
		}
		fmt.Fprintln(st.Stderr, "assay: stopping: finishing what is in flight (once more to give up on it)")
		cancel()
		select {
		case <-over:
		case <-signals:
			stop()
			close(abort)
		}
	}()
	return ctx, abort, func() { stop(); close(over); cancel() }
}

// reportRun scores a run folder, writes its report and prints it.
func (st *state) reportRun(dir string, outs []string) (reports.Document, error) {
	r, err := openRun(st, dir)
	if err != nil {
		return reports.Document{}, err
	}
	doc, err := r.document(st)
	if err != nil {
		return reports.Document{}, err
	}
	files, err := reports.WriteAll(r.dir, doc)
	if err != nil {
		return reports.Document{}, err
	}
	for _, o := range outs {
		if err := reports.Write(o, doc); err != nil {
			return reports.Document{}, err
		}
	}
	format := "text"
	if st.flags.format == "json" {
		format = "json"
	}
	return doc, reports.Render(st.Stdout, format, doc, reports.Options{Width: st.Width, Color: !st.NoColor, Brief: true, Dir: r.dir, Files: files})
}

// knownFormats tells an unknown output format before anything runs.
func knownFormats(outs []string) error {
	for _, o := range outs {
		if _, err := reports.ForPath(o); err != nil {
			return usagef("-o %v", err)
		}
	}
	return nil
}

// verdictError is the exit code of a report; the verdict itself was printed.
func verdictError(d reports.Document) error {
	r := d.Result
	r.Verdict = d.Verdict
	if code := verdictCode(r); code != exitQualified {
		return exitError{code: code}
	}
	return nil
}
