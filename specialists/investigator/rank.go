package investigator

import (
	"math"
	"slices"
	"strings"

	"github.com/fabriccore/assay/specialists/contract"
)

// emptyCases are lines that any stage may print whatever became of it. A
// class's mean similarity to them is how easily it attracts; retrieval scores
// are centred by it (Q-39: calibration runs at warm-up on empty cases).
var emptyCases = []string{
	"build started", "Downloading packages", "step 3 of 7 done", "INFO starting service", "PASS ok 0.02s",
	"exit code 1", "The stage failed.", "error: command failed with exit code 1", "total 12 items processed in 3.4 s",
	"Compiling module", "waiting for the next job", "name = value", "request finished", "Traceback (most recent call last)", "FAILED",
}

// prepared is what Warm computes once for a route and a taxonomy.
type prepared struct {
	classes  [][]float32 // one unit vector a class, of its definition
	attracts []float64   // mean cosine similarity of each class to the empty cases
	letterLP []float64   // log-probability of each menu letter on an empty case; nil = not served
}

// cosine of unit vectors.
func cosine(a, b []float32) float64 {
	var s float64
	for i := range min(len(a), len(b)) {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

// centre fills attracts from the vectors of the empty cases.
func (p *prepared) centre(empty [][]float32) {
	p.attracts = make([]float64, len(p.classes))
	for i, c := range p.classes {
		for _, x := range empty {
			p.attracts[i] += cosine(c, x) / float64(len(empty))
		}
	}
}

// similarity is, chunk by chunk, each class's centred cosine.
func (p *prepared) similarity(chunks [][]float32) [][]float64 {
	out := make([][]float64, len(chunks))
	for j, x := range chunks {
		out[j] = make([]float64, len(p.classes))
		for i, c := range p.classes {
			out[j][i] = cosine(c, x) - p.attracts[i]
		}
	}
	return out
}

// best is, for each class, the highest weighted similarity of any chunk.
func best(sim [][]float64, weight []float64, classes int) []float64 {
	out := make([]float64, classes)
	for i := range out {
		top := math.Inf(-1)
		for j := range sim {
			top = math.Max(top, weight[j]*sim[j][i])
		}
		if !math.IsInf(top, 0) && !math.IsNaN(top) {
			out[i] = top
		}
	}
	return out
}

// standardise brings scores to mean 0 and deviation 1 over the classes, so
// that a route's constants mean the same for every signal. Equal scores carry
// nothing and become 0.
func standardise(x []float64) []float64 {
	out := make([]float64, len(x))
	if len(x) == 0 {
		return out
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
	if !(sd >= 1e-12) || math.IsInf(sd, 0) { // equal, or no numbers
		return out
	}
	for i, s := range x {
		out[i] = (s - m) / sd
	}
	return out
}

// order sorts class indices by score, best first; ties keep taxonomy order.
// The class last (an index, −1 for none) always comes last.
func order(score []float64, last int) []int {
	idx := make([]int, len(score))
	for i := range idx {
		idx[i] = i
	}
	slices.SortStableFunc(idx, func(a, b int) int {
		switch {
		case a == last:
			return 1
		case b == last:
			return -1
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	return idx
}

// classText is the text under which a class is embedded.
func classText(c contract.Class) string {
	t := oneLine(c.Definition)
	if t == "" {
		t = oneLine(c.Gloss)
	}
	if len(t) > chunkCap {
		t = strings.ToValidUTF8(t[:chunkCap], "")
	}
	return t
}
