// Package inproc is the default target: the stack of specialists/, run in
// this process, against one Ollama host. It builds the typed request of
// a case, puts it to the door or to one of the paths without the layer, and
// reports what it observed. It refuses scoring; labels can't be imported.
package inproc

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/runcontracts"
	"github.com/fabriccore/assay/specialists/phase0"
	"github.com/fabriccore/assay/specialists/route"
)

// Parts are what targets are made of.
type Parts struct {
	Client  *route.Client // nil: no arm with a model can be made
	Corpora []*corpus.Corpus
	// Tag maps a catalogue name to the tag under which the server has it.
	Tag  func(model string) string
	Now  func() time.Time
	Rand io.Reader // of signing keys and trace ids
}

// Stack makes targets and describes them; it implements benchmarks.Resolver.
type Stack struct {
	parts      Parts
	rules      *runcontracts.Engine
	goals      map[string]string            // case id → goal text
	taxonomies map[string]contract.Taxonomy // by digest
	taxonomyOf map[string]string            // case id → taxonomy digest
	evidence   []contract.EvidenceItem      // of every case: other workspaces are really there
}

// New prepares a stack for the corpora.
func New(p Parts) (*Stack, error) {
	rules, err := runcontracts.New()
	if err != nil {
		return nil, err
	}
	if p.Tag == nil {
		p.Tag = func(m string) string { return m }
	}
	s := &Stack{parts: p, rules: rules, goals: map[string]string{}, taxonomies: map[string]contract.Taxonomy{}, taxonomyOf: map[string]string{}}
	texts := map[string]string{} // evidence reference → hash
	for _, c := range p.Corpora {
		s.taxonomies[c.TaxonomyDigest] = c.Taxonomy
		for _, k := range c.Cases {
			if d, ok := s.taxonomyOf[k.ID]; ok && (d != c.TaxonomyDigest || s.goals[k.ID] != c.Meta.Goal) {
				return nil, fmt.Errorf("case %s of corpus %s stands in another corpus with another taxonomy or goal", k.ID, c.Meta.Name)
			}
			for _, e := range k.Evidence {
				if sum, ok := texts[e.Ref()]; ok && sum != e.SHA256 {
					return nil, fmt.Errorf("evidence %s of case %s stands in another case with another text", e.Ref(), k.ID)
				}
				texts[e.Ref()] = e.SHA256
			}
			s.goals[k.ID] = c.Meta.Goal
			s.taxonomyOf[k.ID] = c.TaxonomyDigest
			s.evidence = append(s.evidence, k.Evidence...)
		}
	}
	return s, nil
}

// Stack describes what answers for an arm.
func (s *Stack) Stack(_ context.Context, kind benchmarks.ArmKind, name string) (benchmarks.Stack, error) {
	st := benchmarks.Stack{RulesDigest: s.rules.Digest()}
	switch kind {
	case benchmarks.ArmDeterministic:
		b, err := lookup(baselines, "baseline", name)
		if err != nil {
			return st, err
		}
		st.RulesDigest = b(s).Digest()
	case benchmarks.ArmBare:
		return benchmarks.Stack{PromptDigest: contract.Sum(phase0.PromptDigest())}, nil
	case benchmarks.ArmCore:
		def, err := specialists.Investigator()
		if err != nil {
			return st, err
		}
		st.SpecialistID, st.SpecialistVersion, st.PromptDigest = def.ID, def.Version, specialists.PromptDigest()
	case benchmarks.ArmControl:
		if _, err := lookup(controls, "control", name); err != nil {
			return st, err
		}
		st.SpecialistID, st.SpecialistVersion = "control."+name, controlVersion
	}
	return st, nil
}

// ModelDigest reads a model's digest from the server.
func (s *Stack) ModelDigest(ctx context.Context, m route.ModelSpec) (string, error) {
	if s.parts.Client == nil {
		return "", fmt.Errorf("model %s: no server: %w", m.Model, route.ErrInfra)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	info, err := s.parts.Client.Describe(ctx, s.parts.Tag(m.Model))
	if err != nil {
		return "", err
	}
	return info.Digest, nil
}

// kinds makes a target for each kind of arm; a new kind is one line here.
var kinds = map[benchmarks.ArmKind]func(*Stack, context.Context, benchmarks.Arm) (runner.Target, error){
	benchmarks.ArmDeterministic: (*Stack).deterministic,
	benchmarks.ArmBare:          (*Stack).bare,
	benchmarks.ArmCore:          (*Stack).core,
	benchmarks.ArmControl:       (*Stack).control,
}

// Target makes the target of one resolved arm.
func (s *Stack) Target(ctx context.Context, a benchmarks.Arm) (runner.Target, error) {
	f, ok := kinds[a.Kind]
	if !ok {
		return nil, fmt.Errorf("arm %s: no target for kind %q", a.Name, a.Kind)
	}
	t, err := f(s, ctx, a)
	if err != nil {
		return nil, fmt.Errorf("make the target of arm %s: %w", a.Name, err)
	}
	return t, nil
}

// router resolves an arm's route on the server.
func (s *Stack) router(ctx context.Context, a benchmarks.Arm) (*route.Router, error) {
	if s.parts.Client == nil || a.Route == nil {
		return nil, fmt.Errorf("no server or no route: %w", route.ErrInfra)
	}
	spec := *a.Route
	spec.Profiles = maps.Clone(spec.Profiles)
	for p, m := range spec.Profiles {
		m.Model = s.parts.Tag(m.Model)
		spec.Profiles[p] = m
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return route.NewRouter(ctx, s.parts.Client, spec)
}

// patience bounds the questions that a healthy server answers at once: what it
// has and what it is, never a model's answer.
const patience = 30 * time.Second

// fingerprint reads an arm's route as the server reports it now.
func (s *Stack) fingerprint(ctx context.Context, arm string, r *route.Router) (journal.Route, error) {
	out := journal.Route{Arm: arm}
	if r == nil {
		return out, nil
	}
	var err error
	if out.ServerVersion, err = r.Client().Version(ctx); err != nil {
		return out, err
	}
	spec := r.Spec()
	out.Name = spec.Name
	for _, p := range slices.Sorted(maps.Keys(spec.Profiles)) {
		m := spec.Profiles[p]
		info, err := r.Client().Describe(ctx, m.Model)
		if err != nil {
			return out, err
		}
		pm := journal.ProfileModel{Profile: p, Tag: m.Model, Digest: info.Digest, Template: info.TemplateSHA256, Options: r.Options(p)}
		if pm.NumCtx, err = r.Client().LoadedContext(ctx, m.Model); err != nil {
			return out, err
		}
		out.Profiles = append(out.Profiles, pm)
	}
	return out, nil
}

// request is the typed request of a case (F-061).
func (s *Stack) request(c corpus.Case) contract.GatewayRequest {
	q := contract.GatewayRequest{
		Caller: c.World.Caller,
		Task: contract.Task{Type: c.Task, Goal: s.goals[c.ID], Constraints: []string{}, RequiredOutputSchema: "FailureAssessment.v1",
			TaxonomyDigest: s.taxonomyOf[c.ID]},
		Policy: contract.RequestPolicy{AllowedTaskClasses: []contract.TaskClass{c.Task}},
	}
	if def, err := specialists.Investigator(); err == nil {
		q.Policy.AllowedCoreAgents = []string{def.ID}
	}
	q.Caller.WorkspaceID, q.Caller.RunID, q.Caller.BranchID = c.World.Workspace, c.World.Run, c.World.Branch
	for _, e := range c.Evidence {
		q.ContextManifest.EvidenceRefs = append(q.ContextManifest.EvidenceRefs, e.Ref())
		if !slices.Contains(q.ContextManifest.AllowedSources, e.Source) {
			q.ContextManifest.AllowedSources = append(q.ContextManifest.AllowedSources, e.Source)
		}
	}
	return q
}
