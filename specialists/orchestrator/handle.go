package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/executionplans"
	"github.com/fabriccore/assay/specialists/controlplane/workspaces"
)

// Orchestrator is safe for concurrent use; it never changes.
type Orchestrator struct {
	p    Parts
	team map[string]contract.Specialist
}

// New checks the parts: every specialist has an id, once.
func New(p Parts) (*Orchestrator, error) {
	if p.Sufficiency == nil || p.Evidence == nil || p.Registry == nil || p.Capabilities == nil || p.Now == nil || p.ModelsEnabled == nil {
		return nil, errors.New("assemble orchestrator: a part is missing")
	}
	o := &Orchestrator{p: p, team: map[string]contract.Specialist{}}
	for _, s := range p.Specialists {
		id := s.Definition().ID
		if _, ok := o.team[id]; ok {
			return nil, fmt.Errorf("assemble orchestrator: specialist %s stands twice", id)
		}
		o.team[id] = s
	}
	return o, nil
}

// run is the state of one request.
type run struct {
	*Orchestrator
	a    Assignment
	book Book
	tax  contract.Taxonomy
	ev   []contract.EvidenceItem
}

// Handle answers one assignment in the order of F-052. It fails closed: every
// way out is a typed outcome.
func (o *Orchestrator) Handle(ctx context.Context, a Assignment, book Book) Outcome {
	r := &run{Orchestrator: o, a: a, book: book}
	verdict := r.sufficiency(ctx)
	if verdict.err != nil {
		return failed(contract.ReasonOf(verdict.err, contract.ReasonPanic), verdict.err.Error())
	}
	var resolved Outcome
	if verdict.Verdict == contract.SufficiencyResolved {
		resolved = r.resolved(verdict.DeterministicSufficiency)
	}
	book.Sufficiency(verdict.DeterministicSufficiency)
	book.Step(contract.StepSufficiency, map[string]string{
		"verdict": string(verdict.Verdict), "reason": string(verdict.ReasonCode),
	})
	if err := book.Receipt("sufficiency", map[string]string{
		"verdict": string(verdict.Verdict), "reason": string(verdict.ReasonCode),
		"recommendation_sha256": recommendationSum(resolved.Recommendation),
	}); err != nil {
		return failed(contract.ReasonReceiptFailed, "")
	}
	switch verdict.Verdict {
	case contract.SufficiencyResolved:
		return resolved
	case contract.SufficiencySpecialistRequired:
		return r.specialist(ctx)
	default:
		return Outcome{Status: contract.StatusFailed, Reason: verdict.ReasonCode, Evidence: verdict.Evidence}
	}
}

type verdict struct {
	contract.DeterministicSufficiency
	err error
}

func blocked(r contract.ReasonCode) verdict {
	return verdict{DeterministicSufficiency: contract.DeterministicSufficiency{Verdict: contract.SufficiencyBlocked, ReasonCode: r}}
}

// sufficiency reads the bounded evidence and asks the run contracts. Evidence
// or a taxonomy that can't be relied on is itself a blocked verdict.
func (r *run) sufficiency(ctx context.Context) verdict {
	var ok bool
	if r.tax, ok = r.taxonomy(); !ok {
		return blocked(contract.ReasonUnknownTaxonomy)
	}
	if reason := r.read(ctx); reason != "" {
		return blocked(reason)
	}
	if len(r.ev) == 0 {
		return blocked(contract.ReasonEvidenceEmpty)
	}
	d, err := r.p.Sufficiency.Assess(ctx, r.a.Request.Task, r.tax, slices.Clone(r.ev))
	if err != nil {
		return verdict{err: fmt.Errorf("assess sufficiency: %w", err)}
	}
	if err := contract.Valid(d); err != nil {
		return verdict{err: &contract.Fault{Reason: contract.ReasonSchemaInvalid, Err: err}}
	}
	return verdict{DeterministicSufficiency: contract.Filled(d)}
}

func (r *run) taxonomy() (contract.Taxonomy, bool) {
	d := r.a.Request.Task.TaxonomyDigest
	if d == "" && len(r.p.Taxonomies) == 1 {
		for _, t := range r.p.Taxonomies {
			return t, true
		}
	}
	t, ok := r.p.Taxonomies[d]
	return t, ok
}

// read resolves each reference once and checks that it is what it says.
func (r *run) read(ctx context.Context) contract.ReasonCode {
	seen := map[string]bool{}
	for _, ref := range r.a.Request.ContextManifest.EvidenceRefs {
		if seen[ref] {
			continue
		}
		seen[ref] = true
		it, err := r.p.Evidence.Resolve(ctx, ref)
		if err != nil {
			return contract.ReasonOf(err, contract.ReasonUnknownEvidence)
		}
		if it.Workspace != r.a.Request.Caller.WorkspaceID {
			// The store let a foreign item through: a read that crossed.
			if s, ok := workspaces.Current(ctx); ok {
				s.Tally.CrossWorkspace.Add(1)
			}
			return contract.ReasonCrossWorkspace
		}
		if it.Ref() != ref || contract.Sum([]byte(it.Text)) != "sha256:"+it.SHA256 {
			return contract.ReasonEvidenceCorrupt
		}
		r.ev = append(r.ev, it)
	}
	return ""
}

// resolved returns the deterministic result as the one answer, under the same
// checks as a specialist's.
func (r *run) resolved(d contract.DeterministicSufficiency) Outcome {
	a, reason, err := r.assessment(d.ResolvedResult)
	if err != nil {
		return failed(reason, err.Error())
	}
	rec, err := contract.Encode(a)
	if err != nil {
		return failed(contract.ReasonSchemaInvalid, err.Error())
	}
	return Outcome{
		Status: contract.StatusCompleted, Reason: contract.ReasonResolved, Recommendation: rec,
		Evidence: d.Evidence, Assumptions: a.Assumptions, Unresolved: a.UnresolvedQuestions,
		Signals: contract.ConfidenceInputs{"deterministic_validation": 1, "schema_adherence": 1},
	}
}

// specialist is the path behind the verdict specialist_required.
func (r *run) specialist(ctx context.Context) Outcome {
	if !r.p.ModelsEnabled() {
		return Outcome{Status: contract.StatusRefused, Reason: contract.ReasonModelsDisabled}
	}
	def, agent, ok := r.select1()
	r.book.Step(contract.StepTeam, map[string]string{"team": def.ID, "size": strconv.Itoa(btoi(ok))})
	if !ok {
		return Outcome{Status: contract.StatusRefused, Reason: contract.ReasonNoSpecialist}
	}
	ev, digest, err := r.isolate(def)
	if err != nil {
		return failed(contract.ReasonOf(err, contract.ReasonPanic), err.Error())
	}
	r.book.Digest(digest)
	r.book.Step(contract.StepContext, map[string]string{"items": strconv.Itoa(len(ev)), "digest": digest.Digest})
	plan, err := executionplans.Sequential(string(r.a.Request.Task.Type), []string{def.ID},
		executionplans.Bounds{Children: r.a.Budget.CoreAgents, Rounds: r.a.Budget.Rounds})
	if err != nil {
		return Outcome{Status: contract.StatusRefused, Reason: contract.ReasonOverBudget}
	}
	r.book.Step(contract.StepSchedule, map[string]string{"order": "sequential", "rounds": "1", "fan_out": "0"})
	if _, ok := plan.Next(); !ok {
		return failed(contract.ReasonPanic, "empty plan")
	}
	out := r.work(ctx, def, agent, ev, digest)
	plan.CompleteChild()
	return out
}

// select1 picks the smallest team: one specialist that the registry names for
// the task, that policy and request allow, and that is there.
func (r *run) select1() (contract.CoreAgentDefinition, contract.Specialist, bool) {
	for _, d := range r.p.Registry.ForTask(r.a.Request.Task.Type) {
		if s, ok := r.team[d.ID]; ok && slices.Contains(r.a.Candidates, d.ID) {
			return d, s, true
		}
	}
	return contract.CoreAgentDefinition{}, nil, false
}

// isolate narrows the evidence to the definition's sources and signs the
// identity of everything that may change the answer (F-065).
func (r *run) isolate(def contract.CoreAgentDefinition) ([]contract.EvidenceItem, contract.ContextPolicyDigest, error) {
	fresh := map[string]string{}
	for _, it := range r.ev {
		if !slices.Contains(def.AllowedEvidenceSources, it.Source) {
			return nil, contract.ContextPolicyDigest{}, &contract.Fault{
				Reason: contract.ReasonSourceNotAllowed, Err: fmt.Errorf("source %s is not one of %s", it.Source, def.ID)}
		}
		fresh[it.Ref()] = "sha256:" + it.SHA256
	}
	req := r.a.Request
	versions := r.p.Capabilities.Versions(def.AllowedCapabilities)
	versions[def.ID] = def.Version
	d, err := contract.NewDigest(contract.DigestComponents{
		WorkspaceID: req.Caller.WorkspaceID, BranchID: req.Caller.BranchID, CapabilityVersions: versions,
		SourceFreshness:         fresh,
		ModelProviderPolicy:     "route=" + r.p.ModelRoute + ";hosted=" + strconv.FormatBool(req.Policy.HostedModelsAllowed),
		AssistancePolicyVersion: r.a.Policy.Version, TaskType: req.Task.Type, EvidenceRefs: req.ContextManifest.EvidenceRefs,
	}, r.p.Key)
	return slices.Clone(r.ev), d, err
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
