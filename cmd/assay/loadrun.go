package main

import (
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/reports"
	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers"
	"github.com/fabriccore/assay/specialists/contract"
)

// loadedRun is a run folder with everything that its scoring reads.
type loadedRun struct {
	dir      string
	manifest runner.Manifest
	corpora  []*corpus.Corpus
	input    scorers.Input
	labels   []map[string]label.Label // by corpus
}

// openRun finds a run, verifies its corpora against the manifest, joins
// labels and prepares scoring. A corpus that differs from what was asked is
// refused (exit 6).
func openRun(st *state, name string) (*loadedRun, error) {
	dir, err := runner.FindRun(st.flags.runs, name)
	if err != nil {
		return nil, err
	}
	m, err := runner.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	r := &loadedRun{dir: dir, manifest: m}
	labels := map[string]label.Label{}
	for _, ref := range m.Corpora {
		c, err := findCorpus(ref)
		if err != nil {
			return nil, err
		}
		if c.Digest != ref.Digest || c.TaxonomyDigest != ref.TaxonomyDigest {
			return nil, fmt.Errorf("%w: corpus %s is not the one that run %s asked; restore it (%s)", corpus.ErrChanged, ref.Name, m.ID, short(ref.Digest))
		}
		l, err := label.Load(c.Dir, c)
		if err != nil {
			return nil, err
		}
		for k, v := range l {
			labels[k] = v
		}
		r.corpora, r.labels = append(r.corpora, c), append(r.labels, l)
	}
	verified := false // the first reading holds every line against the plan
	r.input, err = scorers.FromJournal(func() (iter.Seq2[journal.Message, error], error) {
		if verified {
			return journalOf(dir)
		}
		verified = true
		return m.Verify(dir, r.corpora)
	})
	if err != nil {
		return nil, err
	}
	r.input.Labels, r.input.VerifyChain = labels, contract.VerifyChain
	r.input.Taxonomy = r.corpora[0].Taxonomy
	byID := map[string]corpus.Case{}
	for _, c := range r.corpora {
		for _, k := range c.Cases {
			byID[k.ID] = k
		}
	}
	r.input.Case = func(id string) (corpus.Case, bool) { c, ok := byID[id]; return c, ok }
	r.input.Spec = specOf(m)
	return r, nil
}

func findCorpus(ref runner.CorpusRef) (*corpus.Corpus, error) {
	if strings.HasPrefix(ref.Dir, "shipped:") {
		return corpus.Find("", ref.Name)
	}
	if _, err := os.Stat(ref.Dir); err == nil {
		return corpus.Load(ref.Dir)
	}
	return corpus.Find(".", ref.Name)
}

// journalOf streams a run's journal; a torn last line ends it.
func journalOf(dir string) (iter.Seq2[journal.Message, error], error) {
	r, err := journal.OpenRun(dir)
	if err != nil {
		return nil, err
	}
	return func(yield func(journal.Message, error) bool) {
		defer r.Close()
		for m, err := range r.All() {
			if !yield(m, err) {
				return
			}
		}
	}, nil
}

// specOf is what scoring needs to know of the suite.
func specOf(m runner.Manifest) scorers.Spec {
	s := m.Suite
	spec := scorers.Spec{Candidate: s.Candidate, LatencyReference: s.LatencyReference, ModelFree: s.ModelFree, Control: s.Control,
		Seed: uint64(s.Seed), Alpha: s.Alpha, Effect: s.Effect, Smoke: s.Smoke}
	if s.Guess != nil {
		spec.Guess = s.Guess.Class
	}
	if m.Power.OK() {
		spec.Power = m.Power.Point
	}
	for _, a := range m.Arms {
		spec.Arms = append(spec.Arms, scorers.SpecArm{Name: a.Name, Kind: string(a.Kind), Generator: a.Generator()})
	}
	return spec
}

// document scores the run and builds its report.
func (r *loadedRun) document(st *state) (reports.Document, error) {
	res, err := scorers.Score(r.input)
	if err != nil {
		return reports.Document{}, err
	}
	m, in := r.manifest, r.input
	out := reports.Input{
		Version: codeVersion(), CodeDigest: m.Code.Digest, Now: st.Now().UTC(),
		Run: reports.Run{ID: m.ID, Started: in.Run.Started, PlanDigest: m.Plan.Digest, Planned: m.Plan.Trials, Repeats: m.Suite.Repeats, Tags: m.Tags,
			Resumes: in.Resumes, Interrupted: in.Interrupted,
			Counts: map[journal.Kind]int{}},
		Suite:       reports.Suite{Name: m.Suite.Name, Title: m.Suite.Description, Digest: m.Suite.Digest, AdHoc: m.Suite.AdHoc},
		Exploratory: m.Exploratory, Host: m.Host, Taxonomies: []contract.Taxonomy{in.Taxonomy}, Arms: m.Arms, Fingerprints: in.Routes, Notes: in.Notes,
		Result: res, NotMeasured: notMeasured(m),
		OpenGates: []reports.OpenGate{{ID: "F-193", Requires: "retained evidence of one complete operated production run",
			Why: "it can't be had by simulation; production readiness stays not_ready", Evidence: []string{"F-193"}}},
	}
	if m.Suite.Candidate != "" {
		out.Suite.Candidate = []string{m.Suite.Candidate}
	}
	for _, a := range res.Arms {
		for k, n := range a.Counts {
			out.Run.Counts[k] += n
		}
	}
	if in.End != nil {
		out.Run.Finished, out.Run.Counts = in.End.At, in.End.Counts
	}
	for i, c := range r.corpora {
		out.Corpora = append(out.Corpora, reports.Corpus{Name: c.Meta.Name, Version: c.Meta.Version, Digest: c.Digest, Origin: c.Meta.Origin,
			Licence: c.Meta.Licence, Purpose: c.Meta.Purpose, Synthetic: c.Meta.Synthetic, Labels: label.Sources(r.labels[i]), Cases: len(c.Cases),
			Families: families(c), Taxonomy: c.TaxonomyDigest})
	}
	if m.Suite.Effect > 0 {
		p := reports.Power{Of: "accuracy over the best model-free baseline", Effect: m.Suite.Effect, Unit: "accuracy", Alpha: m.Suite.Alpha,
			N: m.Plan.Cases, Families: m.Plan.Families, Method: m.Power.Method, Missing: m.Power.Missing, Power: m.Power.Point}
		out.Power = []reports.Power{p}
	}
	looks, err := runner.ReadLooks(st.StateDir)
	if err != nil {
		return reports.Document{}, err
	}
	for _, l := range looks {
		for _, c := range r.corpora {
			if c.Digest != "" && l.CorpusDigest == c.Digest {
				look := reports.Look{At: l.At, Run: l.Run, Corpus: l.Corpus}
				if l.Candidate != "" {
					look.Candidates = []string{l.Candidate}
				}
				out.Looks = append(out.Looks, look)
			}
		}
	}
	return reports.Build(out), nil
}

func notMeasured(m runner.Manifest) []string {
	out := []string{"one run only: repeated qualification needs several runs on the same digests (F-157)"}
	if m.Suite.Repeats == 1 {
		out = append(out, "variation of an arm's answers: every case was asked once")
	}
	return out
}

func families(c *corpus.Corpus) int {
	seen := map[string]bool{}
	for _, k := range c.Cases {
		seen[k.Family] = true
	}
	return len(seen)
}

func short(digest string) string {
	if len(digest) > 19 {
		return digest[:19] + "…"
	}
	if digest == "" {
		return "not frozen"
	}
	return digest
}
