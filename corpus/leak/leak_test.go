package leak_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/corpus/leak"
	"github.com/fabriccore/assay/corpus/recipe"
	"github.com/fabriccore/assay/specialists/contract"
)

// load gives every corpus of the repository with its labels.
func load(t *testing.T) ([]*corpus.Corpus, []map[string]label.Label) {
	t.Helper()
	root := filepath.Join("..", "..")
	var cs []*corpus.Corpus
	var ls []map[string]label.Label
	for _, name := range corpus.Names(root) {
		c, err := corpus.Find(root, name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := label.Load("", c)
		if err != nil {
			t.Fatal(err)
		}
		cs, ls = append(cs, c), append(ls, l)
	}
	if len(cs) == 0 {
		t.Fatal("no corpora found")
	}
	return cs, ls
}

// H-001, Q-25: on everything but evidence text a classifier is no better than
// the majority class.
func TestH001OnlyEvidenceCarriesTheAnswer(t *testing.T) {
	cs, ls := load(t)
	for i, c := range cs {
		for _, kinds := range []bool{false, true} {
			r := leak.Classify(c, ls[i], kinds)
			t.Logf("%s %s: accuracy %.3f [%.3f, %.3f], majority %.3f, p %.3f, %d families", r.Corpus, r.Features, r.Accuracy.Point, r.Accuracy.Lo, r.Accuracy.Hi, r.Majority, r.P, r.Families)
			if r.Leaks() {
				t.Errorf("%s: %s tell the class: accuracy %.3f [%.3f, %.3f], majority %.3f, p %.3f", r.Corpus, r.Features, r.Accuracy.Point, r.Accuracy.Lo, r.Accuracy.Hi, r.Majority, r.P)
			}
		}
	}
}

// The check bites: a planted leak in tags, lengths or order is found.
func TestClassifierFindsPlantedLeaks(t *testing.T) {
	for _, how := range []string{"tag", "length", "order", "none"} {
		c := &corpus.Corpus{Meta: corpus.Meta{Name: how}}
		labels := map[string]label.Label{}
		rng := rand.New(rand.NewPCG(7, 7))
		for i := range 60 {
			class, n := fmt.Sprintf("k%d", rng.IntN(4)), 100
			if how == "order" {
				class = fmt.Sprintf("k%d", i/15)
			}
			k := corpus.Case{ID: fmt.Sprintf("c-%02x", (i*37)%251), Family: fmt.Sprintf("f-%02x", i)}
			switch how {
			case "tag":
				k.Tags = []string{"t" + class}
			case "length":
				n = 64 << (2 * (class[1] - '0'))
			}
			k.Evidence = []contract.EvidenceItem{{ID: "e1", Text: strings.Repeat("x", n)}}
			c.Cases = append(c.Cases, k)
			labels[k.ID] = label.Label{Case: k.ID, Class: class}
		}
		if r := leak.Classify(c, labels, false); r.Leaks() != (how != "none") {
			t.Errorf("planted %s: accuracy %.3f [%.3f, %.3f], majority %.3f", how, r.Accuracy.Point, r.Accuracy.Lo, r.Accuracy.Hi, r.Majority)
		}
	}
}

// H-001: no incident is in two corpora, and no case of one is a near duplicate
// of a case of another.
func TestH001CorporaShareNothing(t *testing.T) {
	cs, _ := load(t)
	for i, a := range cs {
		for _, b := range cs[i+1:] {
			p := leak.Nearest(a, b)
			t.Logf("%s and %s: nearest are %s and %s, %.3f", a.Meta.Name, b.Meta.Name, p.A, p.B, p.Similarity)
			if p.Similarity > leak.MaxNear {
				t.Errorf("%s of %s and %s of %s are near duplicates: %.3f, the bound is %.2f", p.A, a.Meta.Name, p.B, b.Meta.Name, p.Similarity, leak.MaxNear)
			}
		}
	}
	type source struct{ corpus, recipe string }
	families := map[string]source{}
	for _, c := range cs {
		if _, err := fs.Stat(c.FS(), corpus.RecipesDir); err != nil {
			continue
		}
		specs, err := recipe.List(c.FS(), c.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range specs {
			if at, ok := families[s.Family]; ok && at.corpus != c.Meta.Name {
				t.Errorf("family %s is in %s and in %s", s.Family, path.Join(at.corpus, at.recipe), path.Join(c.Meta.Name, s.Name))
			}
			families[s.Family] = source{c.Meta.Name, s.Name}
		}
	}
}
