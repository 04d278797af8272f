package benchmarks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/route"
)

// Suite is what is decided before a run: which corpora, which arms, how often
// and what the result must show. Effect and Discordant are shares (0..1).
type Suite struct {
	Name        string `yaml:"name" json:"name"`
	Description string `yaml:"description" json:"description,omitempty"`
	Corpora     []Pin  `yaml:"corpora" json:"corpora"`
	// Arms are names: "deterministic[:BASELINE]", "bare:ROUTE", "core:ROUTE",
	// "control:guess"; ROUTE is a named route or a model tag.
	Arms []string `yaml:"arms" json:"arms"`
	// Routes are this suite's own; they win over the library of routes.yaml.
	Routes map[string]route.Spec `yaml:"routes,omitempty" json:"routes,omitempty"`

	// The parts that arms play; each is one of Arms.
	Candidate        string   `yaml:"candidate,omitempty" json:"candidate,omitempty"`
	LatencyReference string   `yaml:"latency_reference,omitempty" json:"latency_reference,omitempty"`
	ModelFree        []string `yaml:"model_free,omitempty" json:"model_free,omitempty"`
	Control          string   `yaml:"control,omitempty" json:"control,omitempty"`
	// Guess is what control:guess always answers.
	Guess *Guess `yaml:"guess,omitempty" json:"guess,omitempty"`

	Seed        int           `yaml:"seed" json:"seed"` // of the order of cases
	Repeats     int           `yaml:"repeats" json:"repeats"`
	InFlight    int           `yaml:"in_flight" json:"in_flight"` // calls per host (H-015)
	CallTimeout time.Duration `yaml:"call_timeout" json:"call_timeout"`

	// Effect is the gain in accuracy that the suite must be able to show;
	// Discordant and ICC are what its power assumes, see stats.PowerDesign.
	Effect     float64 `yaml:"effect,omitempty" json:"effect,omitempty"`
	Discordant float64 `yaml:"discordant,omitempty" json:"discordant,omitempty"`
	ICC        float64 `yaml:"icc,omitempty" json:"icc,omitempty"`
	Alpha      float64 `yaml:"alpha,omitempty" json:"alpha,omitempty"`
	Policy     string  `yaml:"policy,omitempty" json:"policy,omitempty"` // gate policy's name

	// Smoke marks a suite that only shows that everything runs: it can never
	// qualify.
	Smoke bool `yaml:"smoke,omitempty" json:"smoke,omitempty"`

	File   string `yaml:"-" json:"file,omitempty"`   // where it was read, "shipped:NAME" or ""
	Digest string `yaml:"-" json:"digest,omitempty"` // "sha256:<hex>" of the file, "" if ad hoc
	AdHoc  bool   `yaml:"-" json:"ad_hoc,omitempty"` // made from flags
}

// Pin names a corpus and the digest that it must have; no digest = not
// pinned, which can't certify.
type Pin struct {
	Name   string `yaml:"name" json:"name"` // a name or a folder
	Digest string `yaml:"digest,omitempty" json:"digest,omitempty"`
}

// Guess is the class that the negative control answers, learnt on a
// development corpus, never on the one it is asked about.
type Guess struct {
	Class string `yaml:"class" json:"class"`
	From  Pin    `yaml:"from" json:"from"`
}

// The defaults of what a suite may leave out.
const (
	defaultTimeout    = 2 * time.Minute
	defaultAlpha      = 0.05
	defaultDiscordant = 0.3
	defaultICC        = 0.2
	defaultPolicy     = "phase1"
	defaultSeed       = 7
)

var (
	nameForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// ParseSuite reads a suite file; file is used in messages and kept. library
// are the named routes beside the suite's own. Errors wrap ErrSuite.
func ParseSuite(file string, data []byte, library map[string]route.Spec) (Suite, error) {
	var s Suite
	d, err := decode(file, data, &s)
	if err != nil {
		return Suite{}, err
	}
	sum := sha256.Sum256(data)
	s.File, s.Digest = file, "sha256:"+hex.EncodeToString(sum[:])
	if err := checkRoutes(d, s.Routes); err != nil {
		return Suite{}, err
	}
	if s.Routes == nil {
		s.Routes = map[string]route.Spec{}
	}
	s.inherit(library)
	s.setDefaults()
	return s, s.check(d)
}

// inherit takes over the library's routes that the suite's arms name.
func (s *Suite) inherit(library map[string]route.Spec) {
	for _, a := range s.Arms {
		if _, name, _ := strings.Cut(a, ":"); name != "" {
			spec, ok := library[name]
			if _, own := s.Routes[name]; ok && !own {
				s.Routes[name] = spec
			}
		}
	}
}

func (s *Suite) setDefaults() {
	s.Repeats = orElse(s.Repeats, 1)
	s.InFlight = orElse(s.InFlight, 1)
	s.CallTimeout = orElse(s.CallTimeout, defaultTimeout)
	s.Alpha = orElse(s.Alpha, defaultAlpha)
	s.Discordant = orElse(s.Discordant, max(defaultDiscordant, s.Effect))
	s.ICC = orElse(s.ICC, defaultICC)
	s.Policy = orElse(s.Policy, defaultPolicy)
}

func orElse[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}

// check finds the first thing that no run could be made of.
func (s *Suite) check(d document) error {
	switch {
	case !nameForm.MatchString(s.Name):
		return d.faultAt("$.name", "name %q; use small letters, digits and hyphens", s.Name)
	case len(s.Corpora) == 0:
		return d.faultAt("$", "no corpora; name at least one")
	case len(s.Arms) == 0:
		return d.faultAt("$", "no arms; name at least one")
	case s.Repeats < 1 || s.Repeats > 1000:
		return d.faultAt("$.repeats", "repeats is %d; give 1 to 1000", s.Repeats)
	case s.InFlight < 1 || s.InFlight > 1024:
		return d.faultAt("$.in_flight", "in_flight is %d; give 1 to 1024", s.InFlight)
	case s.CallTimeout < time.Millisecond:
		return d.faultAt("$.call_timeout", "call_timeout is %v; give a duration like 90s", s.CallTimeout)
	case !(s.Effect >= 0 && s.Effect < 1):
		return d.faultAt("$.effect", "effect is %v; give a difference in accuracy of 0 to 1", s.Effect)
	case !(s.Discordant >= s.Effect && s.Discordant <= 1):
		return d.faultAt("$.discordant", "discordant is %v; it lies between effect and 1", s.Discordant)
	case !(s.ICC >= 0 && s.ICC <= 1):
		return d.faultAt("$.icc", "icc is %v; give 0 to 1", s.ICC)
	case !(s.Alpha > 0 && s.Alpha <= defaultAlpha):
		return d.faultAt("$.alpha", "alpha is %v; give more than 0 and at most %v: gates stand on 95 %% bounds or stricter", s.Alpha, defaultAlpha)
	case s.Policy != defaultPolicy:
		return d.faultAt("$.policy", "no gate policy %q; the one there is is %q", s.Policy, defaultPolicy)
	}
	for i, c := range s.Corpora {
		at := fmt.Sprintf("$.corpora[%d]", i)
		if c.Name == "" {
			return d.faultAt(at, "a corpus without a name")
		}
		if c.Digest != "" && !digestForm.MatchString(c.Digest) {
			return d.faultAt(at+".digest", "digest %q; write sha256: and 64 hexadecimal digits, as 'assay corpus verify' prints it", c.Digest)
		}
		if slices.ContainsFunc(s.Corpora[:i], func(o Pin) bool { return o.Name == c.Name }) {
			return d.faultAt(at+".name", "corpus %s stands twice; keep one", c.Name)
		}
	}
	return s.checkArms(d)
}

func (s *Suite) checkArms(d document) error {
	for i, a := range s.Arms {
		at := fmt.Sprintf("$.arms[%d]", i)
		kind, rest, err := ParseArm(a)
		if err != nil {
			return d.faultAt(at, "%v", err)
		}
		if slices.Contains(s.Arms[:i], a) {
			return d.faultAt(at, "arm %s stands twice; keep one", a)
		}
		if kind == ArmControl && rest == GuessControl && s.Guess == nil && !s.AdHoc {
			return d.faultAt(at, "arm %s needs a guess: the class, and from which development corpus it was learnt", a)
		}
	}
	parts := []struct{ key, arm string }{{"candidate", s.Candidate}, {"latency_reference", s.LatencyReference}, {"control", s.Control}}
	for i, m := range s.ModelFree {
		parts = append(parts, struct{ key, arm string }{fmt.Sprintf("model_free[%d]", i), m})
	}
	for _, p := range parts {
		if p.arm != "" && !slices.Contains(s.Arms, p.arm) {
			return d.faultAt("$."+p.key, "%s %q is none of the arms%s", p.key, p.arm, meant(p.arm, s.Arms))
		}
	}
	for _, p := range parts {
		key, _, _ := strings.Cut(p.key, "[")
		want := map[string]ArmKind{"candidate": ArmCore, "latency_reference": ArmBare, "control": ArmControl, "model_free": ArmDeterministic}[key]
		if kind, _, _ := ParseArm(p.arm); p.arm != "" && kind != want {
			colon := ":"
			if want == ArmDeterministic {
				colon = ""
			}
			return d.faultAt("$."+p.key, "%s %q; it is a %s%s arm (Q-24, Q-41)", p.key, p.arm, want, colon)
		}
	}
	if s.Guess != nil && (s.Guess.Class == "" || s.Guess.From.Name == "" || s.Guess.From.Digest != "" && !digestForm.MatchString(s.Guess.From.Digest)) {
		return d.faultAt("$.guess", "guess needs a class, and from: a development corpus' name and digest")
	}
	if s.Guess != nil && slices.ContainsFunc(s.Corpora, func(c Pin) bool {
		return c.Name == s.Guess.From.Name || c.Digest != "" && c.Digest == s.Guess.From.Digest
	}) && !s.Smoke {
		return d.faultAt("$.guess.from", "guess was learnt on %s, which this suite asks; take a development corpus", s.Guess.From.Name)
	}
	return nil
}

func meant(word string, known []string) string {
	if n := nearest(word, known); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return "; they are " + strings.Join(known, ", ")
}

// checkRoutes names the routes by their keys and checks their models.
func checkRoutes(d document, routes map[string]route.Spec) error {
	for name, spec := range routes {
		at := "$.routes." + name
		if spec.Name != "" && spec.Name != name {
			return d.faultAt(at+".name", "route %s is named %q inside; leave the name out", name, spec.Name)
		}
		spec.Name = name
		routes[name] = spec
		if len(spec.Profiles) == 0 {
			return d.faultAt(at, "route %s maps no profile", name)
		}
		for p, m := range spec.Profiles {
			at := at + ".profiles." + string(p)
			o := m.Options
			switch {
			case !slices.Contains(modelProfiles, p):
				return d.faultAt(at, "route %s: no profile %q%s", name, p, meant(string(p), profileNames()))
			case m.Model == "":
				return d.faultAt(at, "route %s: profile %s has no model", name, p)
			case o.NumCtx < 1 || o.NumPredict < 1 || o.NumThread < 1 || o.KeepAlive <= 0 || o.Temperature < 0:
				return d.faultAt(at, "route %s: profile %s sets num_ctx, num_predict, num_thread and keep_alive above 0, temperature at or above 0", name, p)
			}
		}
	}
	return nil
}

// modelProfiles are the profiles that a route may map (F-100).
var modelProfiles = []contract.Profile{
	contract.ProfileFastExtract, contract.ProfileRetrievalRank, contract.ProfileBalancedReason, contract.ProfileDeepPlan,
	contract.ProfileCodeReason, contract.ProfileVision, contract.ProfileSecurityCritique,
}

func profileNames() []string {
	out := make([]string, len(modelProfiles))
	for i, p := range modelProfiles {
		out[i] = string(p)
	}
	return out
}
