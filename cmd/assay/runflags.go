package main

import (
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
)

// runFlags are the flags of every command that asks models (design §5).
type runFlags struct {
	corpora, arms, models, cases, tags, outs []string
	inFlight, repeats, limit                 int
	seed                                     int
	timeout, deadline                        time.Duration
	dryRun                                   bool
	cmd                                      *cobra.Command
}

func (f *runFlags) add(cmd *cobra.Command) {
	f.cmd = cmd
	fl := cmd.Flags()
	fl.StringArrayVar(&f.corpora, "corpus", nil, "corpus by name or folder, instead of a suite's (repeatable; exploratory)")
	fl.StringArrayVar(&f.arms, "arm", nil, "arm, e.g. core:ROUTE, bare:TAG, deterministic (repeatable; exploratory)")
	fl.StringArrayVar(&f.models, "model", nil, "ask this model of your Ollama: arms bare:TAG and core:TAG beside the baselines (repeatable)")
	fl.StringArrayVar(&f.cases, "case", nil, "only this case (repeatable; exploratory)")
	fl.StringArrayVar(&f.tags, "tag", nil, "note k=v kept with the run (repeatable)")
	fl.StringArrayVarP(&f.outs, "output", "o", nil, "file to write beside the run folder's, format by extension (repeatable)")
	fl.IntVarP(&f.inFlight, "jobs", "j", 0, "calls in flight per Ollama host (0: as the suite says)")
	fl.IntVar(&f.repeats, "repeats", 0, "times each case is asked (0: as the suite says)")
	fl.IntVar(&f.limit, "limit", 0, "only that many cases (exploratory)")
	fl.IntVar(&f.seed, "seed", 0, "seed of the plan (default: the suite's)")
	fl.DurationVar(&f.timeout, "timeout", 0, "time-out of a call (0: as the suite says)")
	fl.DurationVar(&f.deadline, "deadline", 0, "end the run in order after this time")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the plan and ask nothing")
}

// chosen is a suite with the command line applied, and its corpora.
type chosen struct {
	suite       benchmarks.Suite
	corpora     []*corpus.Corpus
	exploratory []string
	selection   benchmarks.Selection
}

// threads is num_thread of bare model tags: half the cores, at least one, so
// that the server, the harness and a neighbour do not fight for the same ones.
func threads() int { return max(1, runtime.NumCPU()/2) }

// choose finds the suite, applies the flags and loads the corpora, verified.
func (f *runFlags) choose(name string) (chosen, error) {
	if f.deadline < 0 {
		return chosen{}, usagef("--deadline %v is negative; give a duration like 30m", f.deadline)
	}
	library, err := benchmarks.Routes(".")
	if err != nil {
		return chosen{}, err
	}
	arms := f.arms
	for _, m := range f.models {
		if strings.TrimSpace(m) == "" {
			return chosen{}, usagef("--model is empty; give a model tag such as llama3.2:3b")
		}
		if len(f.arms) == 0 && len(arms) == 0 {
			arms = append(arms, "deterministic")
		}
		arms = append(arms, "bare:"+m, "core:"+m)
	}
	var s benchmarks.Suite
	if len(f.corpora) > 0 {
		if len(arms) == 0 {
			return chosen{}, usagef("--corpus wants at least one --arm or --model; e.g. --arm deterministic")
		}
		if s, err = benchmarks.AdHoc(f.corpora, arms, library); err != nil {
			return chosen{}, err
		}
	} else {
		if s, err = benchmarks.FindSuite(".", name); err != nil {
			return chosen{}, err
		}
		if len(f.models) > 0 && s.Control != "" {
			arms = append(arms, s.Control)
		}
	}
	o := benchmarks.Overrides{Repeats: f.repeats, InFlight: f.inFlight, CallTimeout: f.timeout,
		Selection: benchmarks.Selection{Limit: f.limit, Cases: f.cases}}
	if len(f.corpora) == 0 {
		o.Arms = arms
	}
	if f.cmd.Flags().Changed("seed") {
		o.Seed = &f.seed
	}
	var why []string
	if s, why, err = s.With(o, library); err != nil {
		return chosen{}, err
	}
	c := chosen{suite: s, exploratory: why, selection: o.Selection}
	if c.corpora, err = s.LoadCorpora("."); err != nil {
		return chosen{}, err
	}
	return c, nil
}

// tagMap reads --tag k=v.
func (f *runFlags) tagMap() (map[string]string, error) {
	out := map[string]string{}
	for _, t := range f.tags {
		k, v, ok := strings.Cut(t, "=")
		if !ok || k == "" {
			return nil, usagef("--tag %q is not of the form k=v", t)
		}
		out[k] = v
	}
	return out, nil
}
