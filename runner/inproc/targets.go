package inproc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/phase0"
	"github.com/fabriccore/assay/specialists/route"
)

// Baseline is a model-free way to answer. Digest names its rules or data.
type Baseline interface {
	Investigate(contract.Taxonomy, []contract.EvidenceItem) contract.FailureAssessment
	Digest() string
}

// baselines make the answerer of a deterministic arm by its name, "" for the
// Phase-0 rules; a new one is one line.
var baselines = map[string]func(*Stack) Baseline{
	"": func(s *Stack) Baseline { return s.rules },
}

// lookup finds a registered part by name.
func lookup[T any](m map[string]T, what, name string) (T, error) {
	v, ok := m[name]
	if !ok {
		known := slices.Sorted(maps.Keys(m))
		if i := slices.Index(known, ""); i >= 0 {
			known[i] = "(no name)"
		}
		return v, fmt.Errorf("%w: no %s is called %q; known: %s", benchmarks.ErrSuite, what, name, strings.Join(known, ", "))
	}
	return v, nil
}

// rulesTarget is a deterministic arm.
type rulesTarget struct {
	stack *Stack
	arm   benchmarks.Arm
	rules Baseline
}

func (s *Stack) deterministic(_ context.Context, a benchmarks.Arm) (runner.Target, error) {
	_, name, err := benchmarks.ParseArm(a.Name)
	if err != nil {
		return nil, err
	}
	b, err := lookup(baselines, "baseline", name)
	if err != nil {
		return nil, err
	}
	return &rulesTarget{s, a, b(s)}, nil
}

func (t *rulesTarget) Warm(context.Context) ([]contract.CallRecord, error) { return nil, nil }

func (t *rulesTarget) Fingerprint(ctx context.Context) (journal.Route, error) {
	return t.stack.fingerprint(ctx, t.arm.Name, nil)
}

func (t *rulesTarget) Ask(_ context.Context, c corpus.Case, _ int) runner.Answer {
	began := t.stack.parts.Now()
	assessment := t.rules.Investigate(t.stack.taxonomies[t.stack.taxonomyOf[c.ID]], c.Evidence)
	took := t.stack.parts.Now().Sub(began)
	var a runner.Answer
	fill(&a.Trial, assessment)
	a.Trial.Status = contract.StatusCompleted
	a.Response, _ = json.Marshal(assessment)
	settle(&a.Trial, took)
	return a
}

// bareTarget is one schema-constrained call without the layer.
type bareTarget struct {
	stack  *Stack
	arm    benchmarks.Arm
	router *route.Router
	numCtx int
}

func (s *Stack) bare(ctx context.Context, a benchmarks.Arm) (runner.Target, error) {
	r, err := s.router(ctx, a)
	if err != nil {
		return nil, err
	}
	for _, p := range benchmarks.Generators { // as phase0 chooses
		if m, ok := a.Route.Profiles[p]; ok {
			return &bareTarget{stack: s, arm: a, router: r, numCtx: m.Options.NumCtx}, nil
		}
	}
	return nil, fmt.Errorf("route %s maps neither balanced_reason nor fast_extract to a model: %w", a.Route.Name, route.ErrNoProfile)
}

// Warm loads the model with one call on an empty case.
func (t *bareTarget) Warm(ctx context.Context) ([]contract.CallRecord, error) {
	var calls []contract.CallRecord
	for _, d := range slices.Sorted(maps.Keys(t.stack.taxonomies)) {
		tax := t.stack.taxonomies[d]
		empty := []contract.EvidenceItem{{ID: "e1", Source: "stage_output", Workspace: "ws-warm", MediaType: "text/plain", Text: "warm-up"}}
		_, call, err := phase0.Bare(ctx, t.router, t.numCtx, contract.Task{Type: contract.TaskFailureAnalysis, TaxonomyDigest: d}, tax, empty)
		calls = append(calls, call)
		// A cut answer came from a loaded model; each trial shows its own.
		if err != nil && call.ErrorKind != "" && call.DoneReason != "length" {
			return calls, fmt.Errorf("warm up %s: %w", t.arm.Name, err)
		}
	}
	return calls, nil
}

func (t *bareTarget) Fingerprint(ctx context.Context) (journal.Route, error) {
	return t.stack.fingerprint(ctx, t.arm.Name, t.router)
}

func (t *bareTarget) Ask(ctx context.Context, c corpus.Case, _ int) runner.Answer {
	began := t.stack.parts.Now()
	q := t.stack.request(c)
	assessment, call, err := phase0.Bare(ctx, t.router, t.numCtx, q.Task, t.stack.taxonomies[t.stack.taxonomyOf[c.ID]], c.Evidence)
	took := t.stack.parts.Now().Sub(began)
	a := runner.Answer{Calls: []contract.CallRecord{call}}
	a.Trial.Calls = []contract.CallRecord{call}
	if err != nil {
		a.Trial.Kind, a.Trial.Reason = kindOf(err)
		a.Trial.Status, a.Trial.Error = contract.StatusFailed, err.Error()
	} else {
		fill(&a.Trial, assessment)
		a.Trial.Status = contract.StatusCompleted
		a.Response, _ = json.Marshal(assessment)
	}
	settle(&a.Trial, took)
	t.stack.checkServer(&a)
	return a
}

// doorTarget puts cases to the assembled stack; core and control are two
// assemblies of it (H-003: no short cut into a specialist).
type doorTarget struct {
	stack  *Stack
	arm    benchmarks.Arm
	door   *specialists.Door
	router *route.Router // nil: no model
	warm   *recorder
}

func (s *Stack) core(ctx context.Context, a benchmarks.Arm) (runner.Target, error) {
	r, err := s.router(ctx, a)
	if err != nil {
		return nil, err
	}
	team, err := specialists.Catalogue(a.Route.Combine, s.rules)
	if err != nil {
		return nil, err
	}
	rec := &recorder{Model: r}
	return s.assemble(a, r, rec, team)
}

func (s *Stack) control(_ context.Context, a benchmarks.Arm) (runner.Target, error) {
	def, err := specialists.Investigator()
	if err != nil {
		return nil, err
	}
	_, name, err := benchmarks.ParseArm(a.Name)
	if err != nil {
		return nil, err
	}
	c, err := lookup(controls, "control", name)
	if err != nil {
		return nil, err
	}
	return s.assemble(a, nil, nil, []contract.Specialist{c(def, a)})
}

func (s *Stack) assemble(a benchmarks.Arm, r *route.Router, rec *recorder, team []contract.Specialist) (runner.Target, error) {
	p := specialists.Parts{Sufficiency: s.rules, Specialists: team, Taxonomies: s.taxonomies, Evidence: s.evidence,
		Now: s.parts.Now, Rand: s.parts.Rand}
	if rec != nil {
		p.Model, p.ModelRoute = rec, a.Route.Name
	}
	d, err := specialists.New(p)
	if err != nil {
		return nil, err
	}
	return &doorTarget{stack: s, arm: a, door: d, router: r, warm: rec}, nil
}

// Warm lets the specialists prepare and calibrate.
func (t *doorTarget) Warm(ctx context.Context) ([]contract.CallRecord, error) {
	err := t.door.Warm(ctx)
	if t.warm == nil {
		return nil, err
	}
	return t.warm.stop(), err
}

func (t *doorTarget) Fingerprint(ctx context.Context) (journal.Route, error) {
	return t.stack.fingerprint(ctx, t.arm.Name, t.router)
}

func (t *doorTarget) Ask(ctx context.Context, c corpus.Case, _ int) runner.Answer {
	var a runner.Answer
	began := t.stack.parts.Now()
	raw, err := contract.Encode(t.stack.request(c))
	if err != nil {
		a.Trial.Kind, a.Trial.Reason, a.Trial.Error = journal.ModelError, contract.ReasonMalformed, err.Error()
		return a
	}
	out, rec := t.door.Request(ctx, raw)
	took := t.stack.parts.Now().Sub(began)
	a.Request, a.Response, a.Calls = raw, out, rec.Calls
	a.Trial.Calls, a.Trial.Trace, a.Trial.Receipts = rec.Calls, rec.Trace, rec.Receipts
	a.Trial.Safety = &rec.Safety
	if rec.Sufficiency != nil {
		a.Trial.Sufficiency = rec.Sufficiency.Verdict
	}
	resp, err := contract.Decode[contract.GatewayResponse](out)
	if err != nil {
		a.Trial.Kind, a.Trial.Reason, a.Trial.Error = journal.ModelError, contract.ReasonSchemaInvalid, err.Error()
		settle(&a.Trial, took)
		return a
	}
	a.Trial.Status, a.Trial.Reason, a.Trial.Signals = resp.Status, resp.ReasonCode, resp.ConfidenceInputs
	a.Trial.Kind = kindOfResponse(resp, rec.Calls)
	if a.Trial.Kind == journal.Answered {
		assessment, err := contract.Decode[contract.FailureAssessment](bytes.TrimSpace(resp.Recommendation))
		if err != nil {
			a.Trial.Kind, a.Trial.Reason, a.Trial.Error = journal.ModelError, contract.ReasonSchemaInvalid, err.Error()
		} else {
			fill(&a.Trial, assessment)
		}
	} else if a.Trial.Error == "" {
		for _, k := range rec.Calls {
			if k.Error != "" {
				a.Trial.Error = k.Error
			}
		}
		if a.Trial.Error == "" && len(resp.UnresolvedItems) > 0 {
			a.Trial.Error = resp.UnresolvedItems[0]
		}
	}
	settle(&a.Trial, took)
	t.stack.checkServer(&a)
	return a
}

// recorder keeps the records of warm-up calls; once stopped it only passes on.
type recorder struct {
	contract.Model
	mu      sync.Mutex
	calls   []contract.CallRecord
	stopped bool
}

func (r *recorder) keep(c contract.CallRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.calls = append(r.calls, c)
	}
}

func (r *recorder) stop() []contract.CallRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	return r.calls
}

func (r *recorder) Generate(ctx context.Context, q contract.GenerateRequest) (contract.GenerateResult, error) {
	res, err := r.Model.Generate(ctx, q)
	r.keep(res.Call)
	return res, err
}

func (r *recorder) Embed(ctx context.Context, q contract.EmbedRequest) (contract.EmbedResult, error) {
	res, err := r.Model.Embed(ctx, q)
	r.keep(res.Call)
	return res, err
}
