package investigator

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/fabriccore/assay/specialists/contract"
)

//go:embed exemplars.v1.jsonl
var exemplarsV1 []byte

// exemplar is a labeled stretch of evidence from a development corpus. No
// family of a frozen corpus is among them; a test proves it.
type exemplar struct {
	Class  string `json:"class"`
	Family string `json:"family"`
	Text   string `json:"text"`
}

func loadExemplars(data []byte) ([]exemplar, error) {
	var out []exemplar
	for n, l := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(l)) == 0 {
			continue
		}
		var x exemplar
		if err := json.Unmarshal(l, &x); err != nil {
			return nil, fmt.Errorf("read exemplars: line %d: %w", n+1, err)
		}
		out = append(out, x)
	}
	return out, nil
}

// prepared is what Warm computes once for a route and a taxonomy.
type prepared struct {
	classes   [][]float32 // one vector a class, of its gloss
	classMean []float64   // mean similarity of each class over the exemplars: how easily it attracts
	exemplars [][]float32
	exClass   []int // index into the taxonomy; exemplars of other classes are left out
	exFamily  []string
	letterLP  []float64 // log-probability of each letter on the empty case; nil = not served
}

// cosine of unit vectors.
func cosine(a, b []float32) float64 {
	var s float64
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

// centre fills classMean: a class whose gloss is close to everything must not
// win by that alone.
func (p *prepared) centre() {
	p.classMean = make([]float64, len(p.classes))
	if len(p.exemplars) == 0 {
		return
	}
	for i, c := range p.classes {
		for _, x := range p.exemplars {
			p.classMean[i] += cosine(c, x)
		}
		p.classMean[i] /= float64(len(p.exemplars))
	}
}

// glossScores is, for each class, the best centred similarity of any chunk,
// weighted by the chunk's salience.
func (p *prepared) glossScores(chunks [][]float32, weight []float64) []float64 {
	out := make([]float64, len(p.classes))
	for i, c := range p.classes {
		best := math.Inf(-1)
		for j, x := range chunks {
			if s := weight[j] * (cosine(c, x) - p.classMean[i]); s > best {
				best = s
			}
		}
		out[i] = finite(best)
	}
	return out
}

// neighbours is how many exemplars vote.
const neighbours = 5

// exemplarScores lets each chunk's nearest exemplars vote with their
// similarity; families listed in without are left out (used when the weights
// are chosen on the development corpus itself).
func (p *prepared) exemplarScores(chunks [][]float32, weight []float64, without string) []float64 {
	type hit struct {
		sim   float64
		class int
	}
	var hits []hit
	best := map[int]float64{} // per exemplar, its best chunk
	for j, x := range chunks {
		for k, e := range p.exemplars {
			if without != "" && p.exFamily[k] == without {
				continue
			}
			if s := weight[j] * cosine(x, e); s > best[k] {
				best[k] = s
			}
		}
	}
	for k, s := range best {
		hits = append(hits, hit{s, p.exClass[k]})
	}
	slices.SortFunc(hits, func(a, b hit) int {
		switch {
		case a.sim > b.sim:
			return -1
		case a.sim < b.sim:
			return 1
		}
		return a.class - b.class
	})
	out := make([]float64, len(p.classes))
	for i, h := range hits {
		if i == neighbours {
			break
		}
		out[h.class] += h.sim * h.sim * h.sim
	}
	return out
}

// nearest is the similarity of the closest exemplar: a measured signal of how
// far the evidence is from anything known.
func (p *prepared) nearest(chunks [][]float32, without string) float64 {
	best := 0.0
	for _, x := range chunks {
		for k, e := range p.exemplars {
			if without != "" && p.exFamily[k] == without {
				continue
			}
			best = math.Max(best, cosine(x, e))
		}
	}
	return best
}

// standardise brings scores to mean 0 and deviation 1 over the classes, so
// that a route's constants mean the same for every signal. Equal scores carry
// nothing and become 0.
func standardise(x []float64) []float64 {
	if len(x) == 0 {
		return nil
	}
	var m, v float64
	for _, s := range x {
		m += s
	}
	m /= float64(len(x))
	for _, s := range x {
		v += (s - m) * (s - m)
	}
	sd := math.Sqrt(v / float64(len(x)))
	out := make([]float64, len(x))
	if sd < 1e-12 {
		return out
	}
	for i, s := range x {
		out[i] = (s - m) / sd
	}
	return out
}

// order sorts class indices by score, best first; ties keep taxonomy order.
func order(score []float64) []int {
	idx := make([]int, len(score))
	for i := range idx {
		idx[i] = i
	}
	slices.SortStableFunc(idx, func(a, b int) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	return idx
}

func finite(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	return x
}

// classVector is the text under which a class is embedded.
func classVector(c contract.Class) string { return oneLine(c.Gloss) }
