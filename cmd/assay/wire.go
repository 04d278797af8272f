package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/inproc"
	"github.com/fabriccore/assay/runner/ollamad"
	"github.com/fabriccore/assay/specialists/route"
)

// wiring is a server with the models a suite needs, and the stack that asks
// them. Close it.
type wiring struct {
	server *ollamad.Server // nil: no arm needs a model
	client *route.Client
	stack  *inproc.Stack
	arms   []benchmarks.Arm
}

// wireInTime wires within the run's deadline, so that a server that hangs, a
// build or a download does not outlast it.
func (st *state) wireInTime(ctx context.Context, s benchmarks.Suite, corpora []*corpus.Corpus, deadline time.Duration) (*wiring, error) {
	if deadline <= 0 {
		return st.wire(ctx, s, corpora)
	}
	dctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	w, err := st.wire(dctx, s, corpora)
	if err != nil && ctx.Err() == nil && dctx.Err() != nil {
		return nil, fmt.Errorf("%w after %v: no server and models were ready, so nothing was asked; give it more time with --deadline", runner.ErrDeadline, deadline)
	}
	return w, err
}

// wire finds or starts the server, gets the models and resolves the arms.
func (st *state) wire(ctx context.Context, s benchmarks.Suite, corpora []*corpus.Corpus) (*wiring, error) {
	w := &wiring{}
	parts := inproc.Parts{Corpora: corpora, Tag: ollamad.Tag, Now: st.Now}
	models, err := modelsOf(s)
	if err != nil {
		return nil, err
	}
	if len(models) > 0 {
		cfg := ollamaConfig(st)
		cfg.NumParallel = s.InFlight
		rep := reporter(st)
		if w.server, err = ollamad.Ensure(ctx, cfg, rep); err != nil {
			return nil, err
		}
		if _, err = ollamad.EnsureModels(ctx, w.server, models, rep); err != nil {
			w.Close()
			return nil, err
		}
		if w.client, err = route.NewClient(w.server.URL, s.InFlight, st.Now); err != nil {
			w.Close()
			return nil, err
		}
		parts.Client = w.client
	}
	if w.stack, err = inproc.New(parts); err == nil {
		w.arms, err = benchmarks.Resolve(ctx, s, corpora, threads(), w.stack)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// writable checks, before a server is started or built, that a run can be kept
// and its looks recorded.
func (st *state) writable(runs, advice string, corpora []*corpus.Corpus) error {
	if err := runner.CheckFolder(runs, advice); err != nil {
		return err
	}
	for _, c := range corpora {
		if c.Meta.Purpose == corpus.PurposeFrozen {
			return runner.CheckFolder(st.StateDir, "free or unlock it, or choose another one with ASSAY_STATE=DIR")
		}
	}
	return nil
}

// modelsOf lists the models that the suite's arms name.
func modelsOf(s benchmarks.Suite) ([]string, error) {
	var out []string
	for _, a := range s.Arms {
		r, err := s.Route(a, threads())
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		for _, m := range r.Profiles {
			if !slices.Contains(out, m.Model) {
				out = append(out, m.Model)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// targets makes the target of every arm.
func (w *wiring) targets(ctx context.Context, arms []benchmarks.Arm) (map[string]runner.Target, error) {
	out := map[string]runner.Target{}
	for _, a := range arms {
		t, err := w.stack.Target(ctx, a)
		if err != nil {
			return nil, err
		}
		out[a.Name] = t
	}
	return out, nil
}

// Close ends the server if assay started it.
func (w *wiring) Close() {
	if w.client != nil {
		w.client.Close()
	}
	if w.server != nil {
		closeServer(context.Background(), w.server)
	}
}

// plan makes the plan of a wired suite and prints what it can show.
func (st *state) plan(c chosen, arms []benchmarks.Arm) (*benchmarks.Plan, error) {
	p, err := benchmarks.NewPlan(c.suite, arms, c.corpora, c.selection)
	if err != nil {
		return nil, err
	}
	line := fmt.Sprintf("plan: %d trials = %d cases (%d families) × %d arms × %d repeats", p.Len(), p.Cases(), p.Families(), len(arms), c.suite.Repeats)
	if pw := p.Power(); c.suite.Effect > 0 && pw.OK() {
		line += fmt.Sprintf("; power for a gain of %.0f points: %.0f %%", 100*c.suite.Effect, 100*pw.Point)
	}
	fmt.Fprintln(st.Stderr, line)
	return p, nil
}
