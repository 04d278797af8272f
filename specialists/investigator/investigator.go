package investigator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/fabriccore/assay/specialists/contract"
)

// ID and Version name this specialist in the registry (F-067).
const (
	ID      = "fabric.failure_investigator"
	Version = "1.0.0"
)

// Errors of Handle that are the model's own.
var (
	// ErrOutput is an answer that is not the asked-for JSON object (F-060).
	ErrOutput = errors.New("model output fails its schema")
)

// Signature scores the taxonomy's classes by known signatures, in taxonomy
// order, and names the evidence references that speak for each.
type Signature interface {
	Score(tax contract.Taxonomy, ev []contract.EvidenceItem) ([]float64, [][]string)
}

// Constants are a route's own weights (route.Spec.Combine), chosen on
// development data and committed before a frozen corpus is looked at.
type Constants struct {
	Signature float64 // weight of the standardised rule scores
	Gloss     float64 // weight of the similarity to class descriptions
	Exemplar  float64 // weight of the nearest labeled exemplars
	Generator float64 // weight of the generator's own choice
	// Abstain is the least top-two margin of measured retrieval signals below
	// which, with no signature matching, the answer is insufficient_evidence.
	Abstain float64
}

// DefaultConstants serve a route without retrieval: signatures and the
// generator's choice.
var DefaultConstants = Constants{Signature: 1, Gloss: 1, Exemplar: 1, Generator: 1}

// ConstantsFrom reads a route's combine map; an unknown name is an error.
func ConstantsFrom(m map[string]float64) (Constants, error) {
	if len(m) == 0 {
		return DefaultConstants, nil
	}
	var c Constants
	for k, v := range m {
		switch k {
		case "signature":
			c.Signature = v
		case "gloss":
			c.Gloss = v
		case "exemplar":
			c.Exemplar = v
		case "generator":
			c.Generator = v
		case "abstain":
			c.Abstain = v
		default:
			return Constants{}, fmt.Errorf("route constant %q is not known: use signature, gloss, exemplar, generator or abstain", k)
		}
	}
	return c, nil
}

// Investigator implements contract.Specialist.
type Investigator struct {
	def       contract.CoreAgentDefinition
	constants Constants
	signature Signature
	exemplars []exemplar

	mu    sync.RWMutex
	ready map[string]*prepared // by taxonomy digest
}

// New makes the specialist from its registry entry.
func New(def contract.CoreAgentDefinition, c Constants, s Signature) (*Investigator, error) {
	ex, err := loadExemplars(exemplarsV1)
	if err != nil {
		return nil, err
	}
	return &Investigator{def: def, constants: c, signature: s, exemplars: ex, ready: map[string]*prepared{}}, nil
}

// Definition returns the registry entry.
func (v *Investigator) Definition() contract.CoreAgentDefinition { return v.def }

// Warm embeds the class descriptions and the exemplars and reads the
// generator's letter bias on an empty case.
func (v *Investigator) Warm(ctx context.Context, m contract.Model, tax contract.Taxonomy) error {
	p := &prepared{}
	if m.Has(contract.ProfileRetrievalRank) {
		texts := make([]string, 0, len(tax.Classes)+len(v.exemplars))
		for _, c := range tax.Classes {
			texts = append(texts, classVector(c))
		}
		index := map[string]int{}
		for i, c := range tax.Classes {
			index[c.ID] = i
		}
		for _, x := range v.exemplars {
			if i, ok := index[x.Class]; ok {
				texts = append(texts, x.Text)
				p.exClass = append(p.exClass, i)
				p.exFamily = append(p.exFamily, x.Family)
			}
		}
		for len(texts) > 0 {
			n := min(len(texts), 16)
			r, err := m.Embed(ctx, contract.EmbedRequest{Profile: contract.ProfileRetrievalRank, Texts: texts[:n]})
			if err != nil {
				return fmt.Errorf("warm up %s: %w", ID, err)
			}
			p.exemplars = append(p.exemplars, r.Vectors...)
			texts = texts[n:]
		}
		p.classes, p.exemplars = p.exemplars[:len(tax.Classes)], p.exemplars[len(tax.Classes):]
		p.centre()
	}
	if prof, ok := generative(m); ok {
		idx := order(make([]float64, len(tax.Classes)))
		res, err := m.Generate(ctx, contract.GenerateRequest{Profile: prof, System: systemPrompt,
			Prompt: prompt(tax, idx, "not recorded", nil), Schema: answerSchema(len(idx), 1), NumPredict: predict, TopLogprobs: topLogprobs})
		if err != nil {
			return fmt.Errorf("warm up %s: %w", ID, err)
		}
		p.letterLP = letterLogprobs(res.Logprobs, len(idx))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ready[taxonomyKey(tax)] = p
	return nil
}

const (
	predict     = 120 // tokens of the one answer
	topLogprobs = 20
	promptBytes = 1800 // of evidence put before the generator
)

// generative picks the profile of the one generative call.
func generative(m contract.Model) (contract.Profile, bool) {
	for _, p := range []contract.Profile{contract.ProfileBalancedReason, contract.ProfileFastExtract} {
		if m.Has(p) {
			return p, true
		}
	}
	return "", false
}

// Handle investigates one failure (F-066).
func (v *Investigator) Handle(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
	v.mu.RLock()
	p := v.ready[taxonomyKey(j.Taxonomy)]
	v.mu.RUnlock()
	if p == nil {
		return contract.CoreAgentResult{}, fmt.Errorf("%s was not warmed up for taxonomy %s/%d", ID, j.Taxonomy.Name, j.Taxonomy.Version)
	}
	chunks := Select(j.Evidence)
	s, err := v.signals(ctx, j, p, chunks, "")
	if err != nil {
		return contract.CoreAgentResult{}, err
	}
	var ans answer
	var lines []evidenceLine
	if prof, ok := generative(j.Model); ok {
		menuOrder := order(s.measured)
		lines = promptLines(j.Evidence, chunks, promptBytes)
		res, err := j.Model.Generate(ctx, contract.GenerateRequest{Profile: prof, System: systemPrompt,
			Prompt: prompt(j.Taxonomy, menuOrder, head(j.Evidence), lines), Schema: answerSchema(len(menuOrder), len(lines)),
			NumPredict: predict, TopLogprobs: topLogprobs})
		if err != nil {
			return contract.CoreAgentResult{}, err
		}
		if ans, err = parseAnswer(res.Text, len(menuOrder), len(lines)); err != nil {
			return contract.CoreAgentResult{}, err
		}
		s.generator = generatorScores(ans, res.Logprobs, p.letterLP, menuOrder, len(j.Taxonomy.Classes))
		s.profile, s.model, s.modelDigest = prof, res.Call.Model, res.Call.ModelDigest
	}
	return v.conclude(j, chunks, lines, ans, s)
}

// signals are everything measured about one case, by class.
type signals struct {
	signature   []float64
	sigRefs     [][]string
	gloss       []float64
	exemplar    []float64
	generator   []float64
	nearest     float64
	measured    []float64   // the weighted sum without the generator
	chunkBest   [][]float64 // chunk × class similarity, for citing
	embedDigest string
	embedModel  string
	profile     contract.Profile
	model       string
	modelDigest string
}

// signals measures signatures and retrieval; without leaves a family's
// exemplars out.
func (v *Investigator) signals(ctx context.Context, j contract.Job, p *prepared, chunks []Chunk, without string) (*signals, error) {
	n := len(j.Taxonomy.Classes)
	s := &signals{gloss: make([]float64, n), exemplar: make([]float64, n), generator: make([]float64, n), measured: make([]float64, n)}
	s.signature, s.sigRefs = v.signature.Score(j.Taxonomy, j.Evidence)
	if len(p.classes) > 0 && len(chunks) > 0 {
		texts := make([]string, len(chunks))
		weight := make([]float64, len(chunks))
		for i, c := range chunks {
			texts[i] = c.Text
			weight[i] = chunkWeight(c)
		}
		r, err := j.Model.Embed(ctx, contract.EmbedRequest{Profile: contract.ProfileRetrievalRank, Texts: texts})
		if err != nil {
			return nil, err
		}
		s.embedModel, s.embedDigest = r.Call.Model, r.Call.ModelDigest
		s.gloss = p.glossScores(r.Vectors, weight)
		s.exemplar = p.exemplarScores(r.Vectors, weight, without)
		s.nearest = p.nearest(r.Vectors, without)
		for i := range chunks {
			one := p.glossScores(r.Vectors[i:i+1], []float64{1})
			ex := p.exemplarScores(r.Vectors[i:i+1], []float64{1}, without)
			for k := range one {
				one[k] += ex[k]
			}
			s.chunkBest = append(s.chunkBest, one)
		}
	}
	c := v.constants
	sg, gl, ex := standardise(s.signature), standardise(s.gloss), standardise(s.exemplar)
	for i := range s.measured {
		s.measured[i] = c.Signature*sg[i] + c.Gloss*gl[i] + c.Exemplar*ex[i]
	}
	return s, nil
}

// chunkWeight lets salient stretches count more, within half and full.
func chunkWeight(c Chunk) float64 {
	return 0.5 + 0.5*math.Min(1, math.Max(0, c.Salience)/5)
}

func taxonomyKey(t contract.Taxonomy) string {
	return fmt.Sprintf("%s/%d/%s", t.Name, t.Version, strings.Join(t.IDs(), ","))
}

// conclude weighs the signals and writes the typed result.
func (v *Investigator) conclude(j contract.Job, chunks []Chunk, lines []evidenceLine, ans answer, s *signals) (contract.CoreAgentResult, error) {
	tax := j.Taxonomy
	gen := standardise(s.generator)
	total := make([]float64, len(tax.Classes))
	insufficient := slices.Index(tax.IDs(), contract.InsufficientEvidence)
	for i := range total {
		total[i] = s.measured[i] + v.constants.Generator*gen[i]
	}
	rank := order(total)
	margin := 0.0
	if m := order(s.measured); len(m) > 1 {
		margin = s.measured[m[0]] - s.measured[m[1]]
	}
	inputs := contract.ConfidenceInputs{"retrieval_agreement": s.nearest, "measured_margin": margin, "signatures": total0(s.signature), "chunks": float64(len(chunks))}
	abstained := false
	if insufficient >= 0 && total0(s.signature) == 0 && margin < v.constants.Abstain {
		rank = append([]int{insufficient}, slices.DeleteFunc(rank, func(i int) bool { return i == insufficient })...)
		abstained = true
	}
	a := contract.FailureAssessment{
		FailureClass: tax.Classes[rank[0]].ID, RootCauseHypotheses: []contract.Hypothesis{}, ImpactedSymbols: []string{},
		Evidence: []contract.EvidenceCite{}, Assumptions: []string{}, UnresolvedQuestions: []string{}, Provenance: v.provenance(s),
	}
	refs := v.cite(j, chunks, lines, ans, s, rank[0])
	for k, i := range rank {
		if k == 3 {
			break
		}
		h := contract.Hypothesis{FailureClass: tax.Classes[i].ID, Cause: oneLine(tax.Classes[i].Gloss), EvidenceRefs: []string{},
			ConfidenceInputs: contract.ConfidenceInputs{"signature": s.signature[i], "gloss": s.gloss[i], "exemplar": s.exemplar[i]}}
		if k == 0 {
			h.EvidenceRefs = refsOf(refs)
			if c := oneLine(ans.Cause); c != "" {
				h.Cause = c
			}
		} else if len(s.sigRefs[i]) > 0 {
			h.EvidenceRefs = s.sigRefs[i]
		}
		a.RootCauseHypotheses = append(a.RootCauseHypotheses, h)
	}
	a.Evidence = refs
	if abstained {
		a.UnresolvedQuestions = append(a.UnresolvedQuestions, "measured signals do not separate the classes; no known signature matches")
	}
	if a.FailureClass != contract.InsufficientEvidence {
		next := contract.TaskRecoveryPlanning
		a.RecommendedTaskClassNext = &next
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return contract.CoreAgentResult{}, fmt.Errorf("write the assessment: %w", err)
	}
	return contract.CoreAgentResult{
		CoreAgentID: ID, Version: v.def.Version, Status: contract.StatusCompleted, Recommendation: raw, Evidence: refs,
		Assumptions: []string{}, Constraints: []string{"advisory only"}, RiskFlags: []string{}, UnresolvedConflicts: v.conflicts(tax, s, rank[0]),
		UnresolvedQuestions: a.UnresolvedQuestions, ConfidenceInputs: inputs, Provenance: a.Provenance,
	}, nil
}

func total0(x []float64) float64 {
	t := 0.0
	for _, f := range x {
		t += f
	}
	return t
}
