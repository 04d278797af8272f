// Package leak owns the checks that nothing but evidence text carries an
// answer: a classifier on everything else about a case, and near duplicates
// between corpora. It refuses to judge the evidence text itself and to change
// anything.
package leak

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/scorers/stats"
)

// Level is the confidence level of the interval that must hold the majority
// class' rate.
const Level = 0.95

// Permutations is the number of label permutations, Alpha the p-value below
// which a corpus is said to leak.
const (
	Permutations = 499
	Alpha        = 0.01
)

// Report is the outcome of the classifier on one corpus.
type Report struct {
	Corpus string `json:"corpus"`
	// Features names the set used: "outer" or "outer+kinds".
	Features string `json:"features"`
	Families int    `json:"families"`
	// Accuracy is that of leave-one-family-out predictions, with its Wilson
	// interval; Majority is the rate of the most frequent class.
	Accuracy stats.Figure `json:"accuracy"`
	Majority float64      `json:"majority"`
	// P is the share of label permutations over families whose accuracy is at
	// least as high, the observed one counted in. Leaving a family out makes
	// its class rarer, so chance lies below the majority rate; this sees it.
	P float64 `json:"p"`
}

// Leaks reports whether the classifier beats the majority class beyond its
// interval, or chance at Alpha.
func (r Report) Leaks() bool {
	return !r.Accuracy.OK() || r.Accuracy.Lo > r.Majority || r.P < Alpha
}

// Classify predicts each case's class from the cases of other families with a
// multinomial naive Bayes on everything but evidence text: ids, place in the
// file, number and lengths of items, tags and world; with kinds also the items'
// sources and media types. Where most classes have a single family, as in a
// small pilot, it has no power.
func Classify(c *corpus.Corpus, labels map[string]label.Label, kinds bool) Report {
	r := Report{Corpus: c.Meta.Name, Features: "outer", Families: len(c.Families())}
	if kinds {
		r.Features = "outer+kinds"
	}
	t := newTable(c, labels, kinds)
	r.Majority = t.majority()
	right := t.right(t.class)
	r.Accuracy = stats.Wilson(right, len(c.Cases), Level)
	rng := rand.New(rand.NewPCG(1, uint64(len(c.Cases))))
	atLeast := 1
	for range Permutations {
		if t.right(t.permuted(rng)) >= right {
			atLeast++
		}
	}
	r.P = stats.Round(float64(atLeast) / (Permutations + 1))
	return r
}

// features describes a case by words, without a byte of its evidence text.
func features(k corpus.Case, at, n int, kinds bool) []string {
	var f []string
	add := func(format string, args ...any) { f = append(f, fmt.Sprintf(format, args...)) }
	for name, id := range map[string]string{"id": k.ID, "family": k.Family, "workspace": k.World.Workspace, "run": k.World.Run, "branch": k.World.Branch} {
		_, tail, ok := strings.Cut(id, "-")
		if !ok {
			tail = id
		}
		for i, r := range tail {
			if i < 2 {
				add("%s.%d=%c", name, i, r)
			}
		}
	}
	add("place=%d", at*10/max(1, n))
	add("parity=%d", at%2)
	add("items=%d", len(k.Evidence))
	total := 0
	for i, e := range k.Evidence {
		total += len(e.Text)
		add("bytes.%d=%d", i, log2(len(e.Text)))
		if kinds {
			add("source.%d=%s", i, e.Source)
			add("has=%s", e.Source)
			add("media=%s", e.MediaType)
		}
	}
	add("bytes=%d", log2(total))
	for _, t := range k.Tags {
		add("tag=%s", t)
	}
	c := k.World.Caller
	add("caller=%s/%s/%s/%s/%s/%s", c.System, c.Component, c.AgentID, c.AgentVersion, c.Role, c.UserID)
	sort.Strings(f)
	return f
}

func log2(n int) int { return int(math.Log2(float64(max(1, n)))) }
