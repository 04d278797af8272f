package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/route"
)

// synthetic is an unfrozen corpus of n cases, perFamily in each family.
func synthetic(n, perFamily int) *corpus.Corpus {
	c := &corpus.Corpus{Meta: corpus.Meta{Name: "c"}, CaseDigest: map[string]string{}, TaxonomyDigest: "sha256:t"}
	c.Taxonomy = contract.Taxonomy{Classes: []contract.Class{{ID: contract.InsufficientEvidence}}}
	for i := range n {
		id := fmt.Sprintf("c%03d", i)
		c.Cases = append(c.Cases, corpus.Case{ID: id, Family: fmt.Sprint(i / perFamily)})
		c.CaseDigest[id] = "sha256:" + id
	}
	return c
}

func corpora(cs ...*corpus.Corpus) []*corpus.Corpus { return cs }

func arms(n int) []Arm {
	out := make([]Arm, n)
	for i := range out {
		out[i] = Arm{Name: string(rune('A' + i)), Digest: fmt.Sprint("sha256:", i)}
	}
	return out
}

func plan(t interface{ Fatal(...any) }, n, k, repeats, seed int) *Plan {
	p, err := NewPlan(Suite{Seed: seed, Repeats: repeats, InFlight: 1}, arms(k), corpora(synthetic(n, 1)), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// two arms go AB BA BA AB BA AB AB BA, and the other way round in the
// next pass.
func TestQ51OrderOfTwoArms(t *testing.T) {
	p := plan(t, 8, 2, 2, 1)
	var got strings.Builder
	for i := range p.Len() {
		if i%2 == 0 && i > 0 {
			got.WriteByte(' ')
		}
		got.WriteString(p.Arms[p.Trial(i).Arm].Name)
	}
	want := "AB BA BA AB BA AB AB BA BA AB AB BA AB BA BA AB"
	if got.String() != want {
		t.Errorf("got  %s\nwant %s", got.String(), want)
	}
}

// arms of a case are adjacent, every arm stands equally often in every
// place, no trial follows one of the same case and arm, repeats come later,
// and the plan holds each trial once.
func TestQ51Plan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 5).Draw(t, "arms")
		blocks := rapid.IntRange(1, 6).Draw(t, "blocks")
		repeats := rapid.IntRange(1, 3).Draw(t, "repeats")
		n := blocks * k
		p := plan(t, n, k, repeats, rapid.Int().Draw(t, "seed"))
		keys := map[string]bool{}
		places := map[[2]int]int{}
		for i := range p.Len() {
			tr := p.Trial(i)
			if keys[tr.Key] {
				t.Fatalf("trial %d stands twice", i)
			}
			keys[tr.Key] = true
			places[[2]int{tr.Arm, i % k}]++
			if want := i / (n * k); tr.Repeat != want || tr.Ordinal != i {
				t.Fatalf("trial %d: %+v", i, tr)
			}
			if first := p.Trial(i - i%k); first.Case != tr.Case {
				t.Fatalf("trial %d: the arms of a case are apart", i)
			}
			if i > 0 && n > 1 {
				if before := p.Trial(i - 1); before.Case == tr.Case && before.Arm == tr.Arm {
					t.Fatalf("trial %d follows itself", i)
				}
			}
		}
		if len(keys) != n*k*repeats {
			t.Fatalf("%d keys", len(keys))
		}
		for at, got := range places {
			if got != blocks*repeats {
				t.Fatalf("arm %d stands %d times in place %d", at[0], got, at[1])
			}
		}
	})
}

// The plan's digest moves with everything that a resume must refuse.
func TestPlanDigest(t *testing.T) {
	base := plan(t, 6, 2, 1, 1)
	if again := plan(t, 6, 2, 1, 1); again.Digest != base.Digest {
		t.Error("the same plan has two digests")
	}
	others := map[string]*Plan{"cases": plan(t, 5, 2, 1, 1), "arms": plan(t, 6, 3, 1, 1), "repeats": plan(t, 6, 2, 2, 1), "seed": plan(t, 6, 2, 1, 2)}
	s := Suite{Seed: 1, Repeats: 1, InFlight: 1}
	a := arms(2)
	a[1].Digest = "sha256:other"
	others["arm digest"], _ = NewPlan(s, a, corpora(synthetic(6, 1)), Selection{})
	c := synthetic(6, 1)
	c.Digest = "sha256:frozen"
	others["corpus digest"], _ = NewPlan(s, arms(2), corpora(c), Selection{})
	c = synthetic(6, 1)
	c.CaseDigest["c003"] = "sha256:edited"
	others["case digest"], _ = NewPlan(s, arms(2), corpora(c), Selection{})
	others["limit"], _ = NewPlan(s, arms(2), corpora(synthetic(6, 1)), Selection{Limit: 3})
	seen := map[string]string{base.Digest: "base"}
	for name, p := range others {
		if was, ok := seen[p.Digest]; ok {
			t.Errorf("%s has the digest of %s", name, was)
		}
		seen[p.Digest] = name
	}
}

func TestPlanSelection(t *testing.T) {
	s := Suite{Repeats: 1}
	p, err := NewPlan(s, arms(2), corpora(synthetic(9, 3)), Selection{Cases: []string{"c004", "c005"}})
	if err != nil || p.Cases() != 2 || p.Families() != 1 || p.Len() != 4 {
		t.Errorf("%v %v", p, err)
	}
	if _, err = NewPlan(s, arms(2), corpora(synthetic(9, 3)), Selection{Cases: []string{"none"}}); !errors.Is(err, ErrSuite) {
		t.Errorf("got %v", err)
	}
	if _, err = NewPlan(s, arms(2), corpora(synthetic(2, 1), synthetic(2, 1)), Selection{}); !errors.Is(err, ErrSuite) {
		t.Errorf("equal cases: got %v", err)
	}
}

// Key is pinned: SHA-256 of "c", "a" and "2" with NUL between.
func TestKey(t *testing.T) {
	// printf 'c\0a\0002' | sha256sum
	const want = "995cddde80a8c007edac470bd5745b5ddaa78ab41d69b7368529e507ead00980"
	if got := Key("c", "a", 2); got != want {
		t.Errorf("got %s", got)
	}
}

// An arm's digest covers everything below it.
func TestArmDigest(t *testing.T) {
	s := Suite{Arms: []string{"core:m"}}
	a, err := Resolve(context.Background(), s, corpora(synthetic(1, 1)), 2, Offline{})
	if err != nil {
		t.Fatal(err)
	}
	b := a[0]
	b.ModelDigests = []string{"sha256:1"}
	c := a[0]
	c.PromptDigest = "sha256:1"
	d := a[0]
	d.TaxonomyDigest = "sha256:2"
	seen := map[string]bool{}
	for _, x := range []Arm{a[0], b, c, d} {
		got, err := armDigest(x)
		if err != nil || seen[got] || !digestForm.MatchString(got) {
			t.Errorf("%s %v", got, err)
		}
		seen[got] = true
	}
	if other, _ := Resolve(context.Background(), s, corpora(synthetic(1, 1)), 4, Offline{}); other[0].Digest == a[0].Digest {
		t.Error("num_thread is not in the digest")
	}
}

// A corpus with another digest than the suite's pin is refused by name.
func TestPin(t *testing.T) {
	s := Suite{Name: "x", Corpora: []Pin{{Name: "development-v0", Digest: "sha256:" + strings.Repeat("0", 64)}}}
	_, err := s.LoadCorpora(root)
	if err == nil {
		t.Fatal("loaded")
	}
	if errors.Is(err, corpus.ErrInvalid) {
		t.Skip("the corpus is being written")
	}
	if !errors.Is(err, ErrPin) || !strings.Contains(err.Error(), "development-v0") {
		t.Errorf("got %v", err)
	}
}

func TestPower(t *testing.T) {
	p := plan(t, 200, 2, 1, 1)
	p.Suite.Effect, p.Suite.Discordant, p.Suite.Alpha = 0.15, 0.3, 0.05
	if f := p.Power(); !f.OK() || f.Point < 0.9 || f.Clusters != 200 {
		t.Errorf("%+v", f)
	}
}

// H-001: labels join by case id, so one id is one case over all corpora.
func TestSameCaseTwice(t *testing.T) {
	a, b := synthetic(2, 1), synthetic(2, 1)
	for id := range b.CaseDigest {
		b.CaseDigest[id] += "0" // other bytes
	}
	b.Meta.Name = "other"
	_, err := NewPlan(Suite{Repeats: 1}, []Arm{{Name: "a"}}, []*corpus.Corpus{a, b}, Selection{})
	if !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), "stands in") {
		t.Errorf("%v", err)
	}
}

// the generator is the model that words the answer, with its options.
func TestGenerator(t *testing.T) {
	arm := func(predict int, digest string, profiles ...contract.Profile) Arm {
		a := Arm{Route: &route.Spec{Profiles: map[contract.Profile]route.ModelSpec{}}}
		for _, p := range profiles {
			o := route.DefaultOptions(1)
			o.NumPredict = predict
			a.Route.Profiles[p] = route.ModelSpec{Model: "m", Options: o}
			a.ModelDigests = append(a.ModelDigests, digest)
		}
		return a
	}
	bare := arm(8, "d", contract.ProfileFastExtract).Generator()
	for name, tc := range map[string]struct {
		a    Arm
		same bool
	}{
		"same":           {arm(8, "d", contract.ProfileFastExtract, contract.ProfileRetrievalRank), true},
		"another digest": {arm(8, "e", contract.ProfileFastExtract), false},
		"longer answers": {arm(9, "d", contract.ProfileFastExtract), false},
	} {
		if got := tc.a.Generator(); got == "" || (got == bare) != tc.same {
			t.Errorf("%s: %s", name, got)
		}
	}
	if (Arm{}).Generator() != "" || arm(8, "d", contract.ProfileRetrievalRank).Generator() != "" {
		t.Error("a generator of nothing")
	}
}
