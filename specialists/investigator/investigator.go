package investigator

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/fabriccore/assay/specialists/contract"
)

// ID and Version name this specialist in the registry (F-067).
const (
	ID      = "fabric.failure_investigator"
	Version = "1.0.0"
)

// Definition is the specialist's registry entry (F-068): the registry is its
// authority, this file only where it is written.
//
//go:embed definition.json
var Definition []byte

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
	Retrieval float64 // weight of the similarity to class definitions
	Generator float64 // weight of the generator's own choice
	// Abstain is the least margin, in deviations, between the two best classes
	// by measured signals; below it, with no signature matching, the answer is
	// insufficient_evidence. 0 never abstains.
	Abstain float64
}

// DefaultConstants serve a route that states none, such as a bare model tag:
// signatures and the generator's choice alike.
var DefaultConstants = Constants{Signature: 1, Retrieval: 0.7, Generator: 1}

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
		case "retrieval":
			c.Retrieval = v
		case "generator":
			c.Generator = v
		case "abstain":
			c.Abstain = v
		default:
			return Constants{}, fmt.Errorf("route constant %q is not known: use signature, retrieval, generator or abstain", k)
		}
	}
	return c, nil
}

// Investigator implements contract.Specialist.
type Investigator struct {
	def       contract.CoreAgentDefinition
	constants Constants
	signature Signature

	mu    sync.RWMutex
	ready map[[sha256.Size]byte]*prepared // by taxonomy
}

// New makes the specialist from its registry entry.
func New(def contract.CoreAgentDefinition, c Constants, s Signature) *Investigator {
	return &Investigator{def: def, constants: c, signature: s, ready: map[[sha256.Size]byte]*prepared{}}
}

// Definition returns the registry entry.
func (v *Investigator) Definition() contract.CoreAgentDefinition { return v.def }

// Warm embeds the class definitions and the empty cases and reads the
// generator's letter bias on an empty case.
func (v *Investigator) Warm(ctx context.Context, m contract.Model, tax contract.Taxonomy) error {
	p := &prepared{}
	if m.Has(contract.ProfileRetrievalRank) {
		texts := make([]string, 0, len(tax.Classes)+len(emptyCases))
		for _, c := range tax.Classes {
			texts = append(texts, classText(c))
		}
		texts = append(texts, emptyCases...)
		r, err := m.Embed(ctx, contract.EmbedRequest{Profile: contract.ProfileRetrievalRank, Texts: texts})
		if err != nil {
			return fmt.Errorf("warm up %s: %w", ID, err)
		}
		if len(r.Vectors) != len(texts) {
			return fmt.Errorf("warm up %s: %d vectors for %d texts: %w", ID, len(r.Vectors), len(texts), ErrOutput)
		}
		p.classes = r.Vectors[:len(tax.Classes)]
		p.centre(r.Vectors[len(tax.Classes):])
	}
	if prof, ok := generative(m); ok {
		if err := v.calibrate(ctx, m, tax, p, prof); err != nil {
			return fmt.Errorf("warm up %s: %w", ID, err)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ready[taxonomyKey(tax)] = p
	return nil
}

// calibrate loads the generator; where it has a say, its letter bias is read on
// an empty case.
func (v *Investigator) calibrate(ctx context.Context, m contract.Model, tax contract.Taxonomy, p *prepared, prof contract.Profile) error {
	if v.constants.Generator == 0 {
		res, err := m.Generate(ctx, contract.GenerateRequest{Profile: prof, System: wordingSystem,
			Prompt: wordingPrompt("not recorded", "not known", ""), Schema: wordingSchema, NumPredict: predict})
		if res.Call.DoneReason == "length" {
			return nil // cut, but loaded, which is all that is wanted here
		}
		return err
	}
	idx := order(make([]float64, len(tax.Classes)), -1)
	res, err := m.Generate(ctx, contract.GenerateRequest{Profile: prof, System: systemPrompt,
		Prompt: prompt(tax, idx, "not recorded", nil), Schema: answerSchema(len(idx), 1), NumPredict: predict, TopLogprobs: topLogprobs})
	p.letterLP = letterLogprobs(res.Logprobs, len(idx))
	return err
}

const (
	predict     = 160 // tokens of the one answer: a cause of one token a character fits
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
	s, err := v.measure(ctx, j, p, chunks)
	if err != nil {
		return contract.CoreAgentResult{}, err
	}
	var ans answer
	var lines []evidenceLine
	prof, speaks := generative(j.Model)
	if speaks && v.constants.Generator > 0 {
		if ans, lines, err = v.choose(ctx, j, p, chunks, s, prof); err != nil {
			return contract.CoreAgentResult{}, err
		}
	}
	d := v.decide(j.Taxonomy, s)
	refs := v.cite(j, chunks, lines, ans, s, d.rank[0])
	if speaks && v.constants.Generator == 0 && d.rank[0] != s.insufficient {
		if ans.Cause, err = v.word(ctx, j, chunks, s, d.rank[0], prof); err != nil {
			return contract.CoreAgentResult{}, err
		}
	}
	return v.conclude(j, len(chunks), refs, ans, s, d)
}

// choose lets the generator pick a class from the menu, in the order of the
// measured signals, and word the cause: the one generative call.
func (v *Investigator) choose(ctx context.Context, j contract.Job, p *prepared, chunks []Chunk, s *signals, prof contract.Profile) (answer, []evidenceLine, error) {
	menuOrder := order(s.measured, s.insufficient)
	lines := promptLines(j.Evidence, chunks, promptBytes)
	res, err := j.Model.Generate(ctx, contract.GenerateRequest{Profile: prof, System: systemPrompt,
		Prompt: prompt(j.Taxonomy, menuOrder, head(j.Evidence), lines), Schema: answerSchema(len(menuOrder), len(lines)),
		NumPredict: predict, TopLogprobs: topLogprobs})
	if err != nil {
		return answer{}, nil, err
	}
	ans, err := parseAnswer(res.Text, len(menuOrder), len(lines))
	if err != nil {
		return answer{}, nil, err
	}
	s.generator = generatorScores(ans, res.Logprobs, p.letterLP, menuOrder, len(j.Taxonomy.Classes))
	s.model, s.modelDigest = res.Call.Model, res.Call.ModelDigest
	return ans, lines, nil
}

// word asks a generator that has no say in the class for the cause in words:
// the one generative call. Words that share nothing with the evidence are not
// used; the hypothesis then quotes the evidence.
func (v *Investigator) word(ctx context.Context, j contract.Job, chunks []Chunk, s *signals, class int, prof contract.Profile) (string, error) {
	text := wordingEvidence(chunks, s.similarity, class)
	gloss := oneLine(j.Taxonomy.Classes[class].Gloss)
	res, err := j.Model.Generate(ctx, contract.GenerateRequest{Profile: prof, System: wordingSystem,
		Prompt: wordingPrompt(head(j.Evidence), gloss, text), Schema: wordingSchema, NumPredict: predict})
	if err != nil {
		return "", err
	}
	s.model, s.modelDigest = res.Call.Model, res.Call.ModelDigest
	cause, err := parseWording(res.Text)
	if err != nil {
		return "", err
	}
	s.grounded = grounded(cause, text, gloss)
	if !s.grounded {
		return "", nil
	}
	return cause, nil
}

// signals are everything measured about one case, by class.
type signals struct {
	insufficient int // index of insufficient_evidence, −1 if the taxonomy lacks it
	signature    []float64
	sigRefs      [][]string
	retrieval    []float64
	generator    []float64
	measured     []float64   // weighted sum of signature and retrieval
	similarity   [][]float64 // chunk × class, for citing
	grounded     bool        // the wording shares words with the evidence
	embedModel   string
	embedDigest  string
	model        string
	modelDigest  string
}

// measure scores signatures and retrieval.
func (v *Investigator) measure(ctx context.Context, j contract.Job, p *prepared, chunks []Chunk) (*signals, error) {
	n := len(j.Taxonomy.Classes)
	s := &signals{retrieval: make([]float64, n), generator: make([]float64, n), measured: make([]float64, n),
		insufficient: slices.Index(j.Taxonomy.IDs(), contract.InsufficientEvidence)}
	s.signature, s.sigRefs = v.signature.Score(j.Taxonomy, j.Evidence)
	if len(p.classes) > 0 && len(chunks) > 0 {
		texts := make([]string, len(chunks))
		weight := make([]float64, len(chunks))
		for i, c := range chunks {
			texts[i], weight[i] = c.Text, chunkWeight(c)
		}
		r, err := j.Model.Embed(ctx, contract.EmbedRequest{Profile: contract.ProfileRetrievalRank, Texts: texts})
		if err != nil {
			return nil, err
		}
		if len(r.Vectors) != len(texts) || slices.ContainsFunc(r.Vectors, func(x []float32) bool { return len(x) != len(p.classes[0]) }) {
			return nil, fmt.Errorf("rank evidence: %w: vectors do not fit those of the warm-up", ErrOutput)
		}
		s.embedModel, s.embedDigest = r.Call.Model, r.Call.ModelDigest
		s.similarity = p.similarity(r.Vectors)
		s.retrieval = best(s.similarity, weight, n)
	}
	sig, ret := standardise(s.signature), standardise(s.retrieval)
	for i := range s.measured {
		s.measured[i] = v.constants.Signature*sig[i] + v.constants.Retrieval*ret[i]
	}
	return s, nil
}

// chunkWeight lets salient stretches count more, within half and full.
func chunkWeight(c Chunk) float64 {
	return 0.5 + 0.5*math.Min(1, math.Max(0, c.Salience)/5)
}

// taxonomyKey is the hash of all of a taxonomy: other definitions under the
// same names are another one.
func taxonomyKey(t contract.Taxonomy) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q %d", t.Name, t.Version)
	for _, c := range t.Classes {
		fmt.Fprintf(h, "%q", [...]string{c.ID, c.Definition, c.Gloss, c.NearMiss, c.Rule})
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// decision is the classes in order of preference.
type decision struct {
	rank      []int
	abstained bool
	margin    float64 // between the two best classes by measured signals
	known     float64 // summed signature scores
}

// decide weighs the signals.
func (v *Investigator) decide(tax contract.Taxonomy, s *signals) decision {
	gen := standardise(s.generator)
	total := make([]float64, len(tax.Classes))
	for i := range total {
		total[i] = s.measured[i] + v.constants.Generator*gen[i]
	}
	// insufficient_evidence is reached by abstaining, or by a generator that
	// has a say; never by similarity to its definition.
	last := s.insufficient
	if v.constants.Generator > 0 {
		last = -1
	}
	d := decision{rank: order(total, last), known: sum(s.signature)}
	if m := order(s.measured, s.insufficient); len(m) > 1 && m[1] != s.insufficient {
		d.margin = s.measured[m[0]] - s.measured[m[1]]
	}
	if s.insufficient >= 0 && d.known == 0 && d.margin < v.constants.Abstain {
		d.rank = append([]int{s.insufficient}, slices.DeleteFunc(d.rank, func(i int) bool { return i == s.insufficient })...)
		d.abstained = true
	}
	return d
}

// conclude writes the typed result.
func (v *Investigator) conclude(j contract.Job, chunks int, refs []contract.EvidenceCite, ans answer, s *signals, d decision) (contract.CoreAgentResult, error) {
	tax, rank := j.Taxonomy, d.rank
	inputs := contract.ConfidenceInputs{"measured_margin": d.margin, "signature_score": d.known, "chunks": float64(chunks), "wording_grounded": 0}
	if s.grounded {
		inputs["wording_grounded"] = 1
	}
	a := contract.FailureAssessment{
		FailureClass: tax.Classes[rank[0]].ID, RootCauseHypotheses: []contract.Hypothesis{}, ImpactedSymbols: []string{},
		Evidence: []contract.EvidenceCite{}, Assumptions: []string{}, UnresolvedQuestions: []string{}, Provenance: v.provenance(s),
	}
	for k, i := range rank {
		if k == 3 {
			break
		}
		h := contract.Hypothesis{FailureClass: tax.Classes[i].ID, Cause: oneLine(tax.Classes[i].Gloss), EvidenceRefs: []string{},
			ConfidenceInputs: contract.ConfidenceInputs{"signature": s.signature[i], "retrieval": s.retrieval[i]}}
		if k == 0 {
			h.EvidenceRefs = refsOf(refs)
			h.Cause = causeText(ans.Cause, refs, tax.Classes[i])
		} else if len(s.sigRefs[i]) > 0 {
			h.EvidenceRefs = s.sigRefs[i]
		}
		a.RootCauseHypotheses = append(a.RootCauseHypotheses, h)
	}
	a.Evidence = refs
	if d.abstained {
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

func sum(x []float64) float64 {
	t := 0.0
	for _, f := range x {
		t += f
	}
	return t
}
