// Package runcontracts stands in for the platform's run_contracts: the
// deterministic validators that may settle a failure without a model. Its
// rules are data; it refuses models, labels and anything learnt from a frozen
// corpus.
package runcontracts

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/fabriccore/assay/specialists/contract"
)

//go:embed rules.v1.yaml
var rulesV1 []byte

// Rule is one known signature.
type Rule struct {
	ID         string   `yaml:"id"`
	Class      string   `yaml:"class"`
	Pattern    string   `yaml:"pattern"`
	Weight     int      `yaml:"weight"` // 1 symptom, 2 typical, 3 the cause itself
	Conclusive bool     `yaml:"conclusive"`
	Sources    []string `yaml:"sources"` // item sources it applies to; empty = all

	re      *regexp.Regexp
	needles []string
}

// Engine matches evidence against a rule file. It is safe for concurrent use.
type Engine struct {
	name   string
	digest string
	rules  []Rule
}

// New loads the built-in rule file.
func New() (*Engine, error) { return Parse(rulesV1) }

// Parse loads a rule file; an unknown key, a bad pattern, a doubled id or a
// weight outside 1..3 is an error that names the rule.
func Parse(data []byte) (*Engine, error) {
	var f struct {
		Name    string `yaml:"name"`
		Version int    `yaml:"version"`
		Rules   []Rule `yaml:"rules"`
	}
	if err := yaml.UnmarshalWithOptions(data, &f, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	h := sha256.Sum256(data)
	e := &Engine{name: fmt.Sprintf("%s/%d", f.Name, f.Version), digest: "sha256:" + hex.EncodeToString(h[:]), rules: f.Rules}
	seen := map[string]bool{}
	for i := range e.rules {
		r := &e.rules[i]
		if r.ID == "" || r.Class == "" || r.Pattern == "" || seen[r.ID] {
			return nil, fmt.Errorf("read rules: rule %d (%q) lacks id, class or pattern, or its id is used twice", i+1, r.ID)
		}
		if r.Weight < 1 || r.Weight > 3 {
			return nil, fmt.Errorf("read rules: rule %q: weight %d is outside 1..3", r.ID, r.Weight)
		}
		seen[r.ID] = true
		re, err := regexp.Compile("(?i)" + r.Pattern)
		if err != nil {
			return nil, fmt.Errorf("read rules: rule %q: %w", r.ID, err)
		}
		r.re, r.needles = re, needles(r.Pattern)
	}
	return e, nil
}

// Digest is "sha256:<hex>" of the rule file.
func (e *Engine) Digest() string { return e.digest }

// Match is one rule that spoke.
type Match struct {
	Rule Rule
	Cite contract.EvidenceCite
}

// maxLine bounds what a single line may cost; longer lines are cut.
const maxLine = 4000

// Matches lists every rule that matches, at its first line, in rule order.
func (e *Engine) Matches(tax contract.Taxonomy, ev []contract.EvidenceItem) []Match {
	var out []Match
	texts := make([]text, len(ev))
	for i, it := range ev {
		texts[i].folded = fold(it.Text)
	}
	for i := range e.rules {
		r := &e.rules[i]
		if !tax.Has(r.Class) {
			continue // another organisation's taxonomy: the rule has nothing to say
		}
		if m, ok := r.first(ev, texts); ok {
			out = append(out, m)
		}
	}
	return out
}

// text is an item's text, prepared once for all rules.
type text struct {
	folded string
	lines  []string // of the text itself, made when the first rule needs them
	low    []string // the same lines folded
}

func (r *Rule) first(ev []contract.EvidenceItem, texts []text) (Match, bool) {
	for i, it := range ev {
		if len(r.Sources) > 0 && !slices.Contains(r.Sources, it.Source) || !r.holds(texts[i].folded) {
			continue
		}
		t := &texts[i]
		if t.lines == nil {
			t.lines = strings.Split(it.Text, "\n")
			t.low = make([]string, len(t.lines))
			for n, l := range t.lines {
				if len(l) > maxLine {
					l = l[:maxLine]
					t.lines[n] = l
				}
				t.low[n] = fold(l)
			}
		}
		for n, l := range t.lines {
			if r.holds(t.low[n]) && r.re.MatchString(l) {
				return Match{Rule: *r, Cite: contract.EvidenceCite{Ref: it.Ref(), SHA256: it.SHA256, Line: n + 1, Quote: Clip(l, 240)}}, true
			}
		}
	}
	return Match{}, false
}

// Clip cuts s to at most n bytes at a rune boundary and drops control
// characters.
func Clip(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if r < 0x20 || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	s = strings.TrimSpace(s)
	if len(s) <= n {
		return s
	}
	for n > 0 && (s[n]&0xC0) == 0x80 {
		n--
	}
	return s[:n]
}
