package benchmarks

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/scorers/stats"
	"github.com/fabriccore/assay/specialists/route"
)

// Overrides are what a command line changes about a suite; zero = nothing.
type Overrides struct {
	Arms        []string
	Seed        *int
	Repeats     int
	InFlight    int
	CallTimeout time.Duration
	Selection   Selection
}

// AdHoc makes a suite from flags: corpora by name or folder, and arms. The
// first core arm is the candidate and the first bare arm of its route the
// latency reference. library are the named routes. It never certifies.
func AdHoc(corpora, arms []string, library map[string]route.Spec) (Suite, error) {
	s := Suite{Name: "adhoc", AdHoc: true, Arms: arms, Seed: defaultSeed, Routes: map[string]route.Spec{}}
	for _, c := range corpora {
		s.Corpora = append(s.Corpora, Pin{Name: c})
	}
	if len(corpora) == 1 {
		if n := filepath.Base(corpora[0]); nameForm.MatchString(n) {
			s.Name = "adhoc-" + n
		}
	}
	s.inherit(library)
	s.assignParts()
	s.setDefaults()
	return s, s.check(document{file: "command line"})
}

// assignParts gives the arms their parts by kind.
func (s *Suite) assignParts() {
	s.Candidate, s.LatencyReference, s.Control, s.ModelFree = "", "", "", nil
	for _, a := range s.Arms {
		switch kind, _, _ := ParseArm(a); {
		case kind == ArmCore && s.Candidate == "":
			s.Candidate = a
		case kind == ArmDeterministic:
			s.ModelFree = append(s.ModelFree, a)
		case kind == ArmControl:
			s.Control = a
		case kind == ArmBare && s.LatencyReference == "":
			s.LatencyReference = a
		}
	}
	if _, name, _ := ParseArm(s.Candidate); name != "" && slices.Contains(s.Arms, "bare:"+name) {
		s.LatencyReference = "bare:" + name
	}
}

// With returns the suite with the overrides applied, and why the result is
// exploratory, one reason each. library are the named routes.
func (s Suite) With(o Overrides, library map[string]route.Spec) (Suite, []string, error) {
	var why []string
	changed := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if len(o.Arms) > 0 && !slices.Equal(o.Arms, s.Arms) {
		if !s.AdHoc {
			changed("other arms than the suite's: %s", strings.Join(o.Arms, ", "))
		}
		own := s.Routes
		s.Arms, s.Routes = o.Arms, map[string]route.Spec{}
		for n, r := range own {
			s.Routes[n] = r
		}
		s.inherit(library)
		s.keepParts()
	}
	if o.Seed != nil && *o.Seed != s.Seed {
		changed("another seed than the suite's: %d", *o.Seed)
		s.Seed = *o.Seed
	}
	if o.Repeats != 0 && o.Repeats != s.Repeats {
		changed("other repeats than the suite's: %d", o.Repeats)
		s.Repeats = o.Repeats
	}
	if o.InFlight != 0 && o.InFlight != s.InFlight {
		changed("more or fewer calls in flight than the suite's: %d", o.InFlight)
		s.InFlight = o.InFlight
	}
	if o.CallTimeout != 0 && o.CallTimeout != s.CallTimeout {
		changed("another call time-out than the suite's: %v", o.CallTimeout)
		s.CallTimeout = o.CallTimeout
	}
	if o.Selection.Limit < 0 {
		return s, nil, fmt.Errorf("%w: a limit of %d cases; give 1 or more", ErrSuite, o.Selection.Limit)
	}
	if o.Selection.Limit > 0 {
		changed("limited to %d cases", o.Selection.Limit)
	}
	if len(o.Selection.Cases) > 0 {
		changed("only the cases %s", strings.Join(o.Selection.Cases, ", "))
	}
	return s, why, s.check(document{file: s.where()})
}

// keepParts keeps the parts whose arms are still there and gives the rest.
func (s *Suite) keepParts() {
	old := *s
	s.assignParts()
	if slices.Contains(s.Arms, old.Candidate) {
		s.Candidate = old.Candidate
	}
	if slices.Contains(s.Arms, old.LatencyReference) {
		s.LatencyReference = old.LatencyReference
	}
}

func (s Suite) where() string {
	if s.File == "" {
		return "command line"
	}
	return s.File
}

// Exploratory adds to the reasons of With what suite, corpora and build give
//
func (s Suite) Exploratory(reasons []string, corpora []*corpus.Corpus, dirty, replay bool) []string {
	why := slices.Clone(reasons)
	if s.AdHoc {
		why = append(why, "an ad-hoc suite")
	}
	if s.Smoke {
		why = append(why, "a smoke suite")
	}
	for i, c := range corpora {
		switch {
		case !c.Frozen():
			why = append(why, fmt.Sprintf("corpus %s is not frozen", c.Meta.Name))
		case !s.AdHoc && s.Corpora[i].Digest == "":
			why = append(why, fmt.Sprintf("the suite does not pin corpus %s", c.Meta.Name))
		}
		if c.Meta.Synthetic {
			why = append(why, fmt.Sprintf("corpus %s is synthetic", c.Meta.Name))
		}
		if c.Meta.Purpose == corpus.PurposeDevelopment {
			why = append(why, fmt.Sprintf("corpus %s is for development", c.Meta.Name))
		}
	}
	if dirty {
		why = append(why, "a build from a changed tree")
	}
	if replay {
		why = append(why, "a replay")
	}
	return why
}

// Power is the chance that the accuracy gate passes when the candidate is
// really better by the suite's effect, on this plan's cases and families.
func (p *Plan) Power() stats.Figure {
	return stats.PairedPower(stats.PowerDesign{
		Cases: p.Cases(), Families: p.Families(),
		Effect: p.Suite.Effect, Discordant: p.Suite.Discordant, ICC: p.Suite.ICC, Alpha: p.Suite.Alpha,
	})
}
