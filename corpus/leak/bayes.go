package leak

import (
	"math"
	"math/rand/v2"
	"sort"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
)

// table is a corpus as numbers: for each case its feature words, its family
// and its class.
type table struct {
	words    [][]int
	family   []int
	class    []int
	vocab    int
	classes  int
	families int
}

func newTable(c *corpus.Corpus, labels map[string]label.Label, kinds bool) table {
	var t table
	vocab, families, classes := map[string]int{}, map[string]int{}, map[string]int{}
	number := func(m map[string]int, s string) int {
		n, ok := m[s]
		if !ok {
			n = len(m)
			m[s] = n
		}
		return n
	}
	names := map[string]bool{}
	for _, l := range labels {
		names[l.Class] = true
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	sort.Strings(sorted)
	for _, name := range sorted {
		number(classes, name)
	}
	for i, k := range c.Cases {
		var row []int
		for _, w := range features(k, i, len(c.Cases), kinds) {
			row = append(row, number(vocab, w))
		}
		t.words = append(t.words, row)
		t.family = append(t.family, number(families, k.Family))
		t.class = append(t.class, number(classes, labels[k.ID].Class))
	}
	t.vocab, t.families, t.classes = len(vocab), len(families), len(classes)
	return t
}

// majority is the rate of the most frequent class.
func (t table) majority() float64 {
	n, most := make([]int, t.classes), 0
	for _, c := range t.class {
		n[c]++
		most = max(most, n[c])
	}
	return float64(most) / float64(max(1, len(t.class)))
}

// permuted deals the families' classes out anew; the cases of a family get one
// class, that of its first case.
func (t table) permuted(rng *rand.Rand) []int {
	of := make([]int, t.families)
	for i := len(t.class) - 1; i >= 0; i-- {
		of[t.family[i]] = t.class[i]
	}
	rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	out := make([]int, len(t.class))
	for i := range out {
		out[i] = of[t.family[i]]
	}
	return out
}

// right counts the cases whose class is predicted from the other families.
func (t table) right(class []int) int {
	words := make([][]int, t.classes) // counts of each word by class
	for c := range words {
		words[c] = make([]int, t.vocab)
	}
	total, cases := make([]int, t.classes), make([]int, t.classes)
	learn := func(i, sign int) {
		for _, w := range t.words[i] {
			words[class[i]][w] += sign
		}
		total[class[i]] += sign * len(t.words[i])
		cases[class[i]] += sign
	}
	members := make([][]int, t.families)
	for i, f := range t.family {
		members[f] = append(members[f], i)
		learn(i, 1)
	}
	right := 0
	for _, own := range members {
		for _, i := range own {
			learn(i, -1)
		}
		for _, i := range own {
			best, top := -1, math.Inf(-1)
			for c := range cases {
				if cases[c] == 0 {
					continue
				}
				p := math.Log(float64(cases[c]))
				for _, w := range t.words[i] {
					p += math.Log(float64(words[c][w]+1) / float64(total[c]+t.vocab))
				}
				if p > top {
					best, top = c, p
				}
			}
			if best == class[i] {
				right++
			}
		}
		for _, i := range own {
			learn(i, 1)
		}
	}
	return right
}
