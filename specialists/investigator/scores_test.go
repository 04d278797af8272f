package investigator

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fabriccore/assay/specialists/contract"
)

// at is a position with alternatives, given as token, log-probability, …
func at(token string, top ...any) contract.TokenLogprobs {
	p := contract.TokenLogprobs{Token: token}
	for i := 0; i < len(top); i += 2 {
		p.Top = append(p.Top, contract.TokenLogprob{Token: top[i].(string), Logprob: top[i+1].(float64)})
	}
	return p
}

// the position that chose the class is found whatever the tokens are
// cut like; letters that are not listed get the least listed value.
func TestQ38_LetterLogprobs(t *testing.T) {
	letter := at("B", "B", -0.5, "A", -1.0, "x", -7.0)
	for name, tc := range map[string]struct {
		lp   []contract.TokenLogprobs
		want []float64
	}{
		"single characters": {[]contract.TokenLogprobs{at("{"), at(`"`), at("class"), at(`"`), at(":"), at(`"`), letter}, []float64{-1, -0.5, -7}},
		"joined":            {[]contract.TokenLogprobs{at(`{"cause":"x","`), at(`class`), at(`":"`), letter}, []float64{-1, -0.5, -7}},
		"with spaces":       {[]contract.TokenLogprobs{at(`{ "class" :`), at(` "`), letter}, []float64{-1, -0.5, -7}},
		"spaces and quotes": {[]contract.TokenLogprobs{at(`{"class":"`), at(" A", " A", -0.25, `"C"`, -2.0)}, []float64{-0.25, -2, -2}},
		"best of doubles":   {[]contract.TokenLogprobs{at(`{"class":"`), at("A", "A", -3.0, " A", -1.0)}, []float64{-1, -3, -3}},
		"inside the cause":  {[]contract.TokenLogprobs{at(`{"cause":"\"class\":\"`), at("A", "A", -9.0), at(`","class":"`), letter}, []float64{-1, -0.5, -7}},
		"no position":       {[]contract.TokenLogprobs{at(`{"klass":"`), letter}, nil},
		"no alternatives":   {[]contract.TokenLogprobs{at(`{"class":"`), at("A")}, nil},
		"nothing":           {nil, nil},
	} {
		if d := cmp.Diff(tc.want, letterLogprobs(tc.lp, 3)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	many := make([]contract.TokenLogprobs, 100000)
	for i := range many {
		many[i] = at("word ")
	}
	began := time.Now()
	if letterLogprobs(many, 3) != nil || time.Since(began) > time.Second {
		t.Errorf("100,000 tokens took %v", time.Since(began))
	}
}

// scores are the letters' log-probabilities less those of the
// empty case, back in taxonomy order.
func TestQ38_GeneratorScores(t *testing.T) {
	lp := []contract.TokenLogprobs{at(`{"class":"`), at("A", "A", -1.0, "B", -2.0, "C", -4.0)}
	for name, tc := range map[string]struct {
		lp    []contract.TokenLogprobs
		empty []float64
		want  []float64
	}{
		"calibrated":      {lp, []float64{-0.5, -2.5, -4}, []float64{0.5, 0, -0.5}}, // menu order 2, 0, 1
		"no logprobs":     {nil, []float64{-0.5, -2.5, -4}, []float64{1, 0, 0}},
		"no empty case":   {lp, nil, []float64{1, 0, 0}},
		"other empty one": {lp, []float64{0, 0}, []float64{1, 0, 0}},
	} {
		if d := cmp.Diff(tc.want, generatorScores(answer{Class: "B"}, tc.lp, tc.empty, []int{2, 0, 1}, 3)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// a taxonomy longer than the menu works; what is not on the menu gains
// nothing by it.
func TestManyClasses(t *testing.T) {
	const n = 40
	var tax contract.Taxonomy
	for i := range n {
		tax.Classes = append(tax.Classes, contract.Class{ID: fmt.Sprintf("c%d", i), Gloss: "g"})
	}
	idx := order(make([]float64, n), -1)
	if got := strings.Count(menu(tax, idx), "\n"); got != maxMenu+1 {
		t.Errorf("%d lines of menu", got)
	}
	p := at("A")
	empty := make([]float64, maxMenu)
	for i := range maxMenu {
		p.Top = append(p.Top, contract.TokenLogprob{Token: string(letters[i]), Logprob: -float64(i + 1)})
	}
	s := generatorScores(answer{Class: "A"}, []contract.TokenLogprobs{at(`{"class":"`), p}, empty, idx, n)
	if slices.Max(s) != s[0] || slices.Max(s[maxMenu:]) != s[maxMenu-1] {
		t.Errorf("scores %v", s)
	}
	if _, err := parseAnswer(`{"class":"Z","line":1,"cause":"x"}`, n, 1); err != nil {
		t.Error(err)
	}
}

// Hand-computed: mean 2, deviation √(2/3).
func TestStandardise(t *testing.T) {
	sd := math.Sqrt(2.0 / 3)
	for _, tc := range []struct{ in, want []float64 }{
		{[]float64{1, 2, 3}, []float64{-1 / sd, 0, 1 / sd}},
		{[]float64{5, 5}, []float64{0, 0}},
		{nil, []float64{}},
		{[]float64{math.NaN(), 1}, []float64{0, 0}},
		{[]float64{math.Inf(-1), 1}, []float64{0, 0}},
		{[]float64{math.MaxFloat64, -math.MaxFloat64}, []float64{0, 0}},
	} {
		got := standardise(tc.in)
		for i := range tc.want {
			if math.Abs(got[i]-tc.want[i]) > 1e-12 || math.IsNaN(got[i]) {
				t.Errorf("%v: %v", tc.in, got)
			}
		}
	}
}

func TestOrder(t *testing.T) {
	for _, tc := range []struct {
		score []float64
		last  int
		want  []int
	}{
		{[]float64{1, 3, 2}, -1, []int{1, 2, 0}},
		{[]float64{1, 3, 2}, 1, []int{2, 0, 1}},
		{[]float64{1, 1, 1}, -1, []int{0, 1, 2}}, // ties keep taxonomy order
		{nil, -1, []int{}},
	} {
		if got := order(tc.score, tc.last); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %v", tc, got)
		}
	}
}

// A wording is used only if it names what the evidence names.
func TestGrounded(t *testing.T) {
	const evidence, gloss = "- write error: no space left on device /var/lib/data", "The disk has no space left."
	for cause, want := range map[string]bool{
		"the device /var/lib/data refused the write":        true,
		"something went wrong":                              false,
		"The disk has no space left.":                       false, // the class's own words
		"write":                                             false, // one word
		"A delivery stage failed with log lines in the log": false,
	} {
		if got := grounded(cause, evidence, gloss); got != want {
			t.Errorf("%q: %v", cause, got)
		}
	}
}
