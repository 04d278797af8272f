package scorers

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers/stats"
	"github.com/fabriccore/assay/specialists/contract"
)

// TopK is the k of top-k accuracy (F-155).
const TopK = 3

// reading is one trial joined to its label: what scoring keeps of it.
type reading struct {
	key, arm, id     string
	repeat           int
	started          time.Time
	kind             journal.Kind
	class, cause     string
	evidence         []string
	right, top, hit  bool
	abstains         bool // answer is insufficient_evidence or none at all
	answered         bool // gave an answer that counts for coverage
	total, overhead  time.Duration
	censored, noCall bool
	cut              bool // its time is only the least that an answer would have taken
	leftOut          bool // cold, or a cached prefix was reused
	profiles         []profileTime
	sufficiency      contract.SufficiencyVerdict
	missing          bool
}

// profileTime is the time of one trial inside one profile's calls.
type profileTime struct {
	profile                contract.Profile
	total, prefill, decode time.Duration
}

// accepts reports whether class is right under the label.
func accepts(l label.Label, class string) bool {
	return class != "" && (class == l.Class || slices.Contains(l.Acceptable, class))
}

// read joins one trial to its label.
func read(t journal.Trial, l label.Label) reading {
	r := reading{
		key: t.Key, arm: t.Arm, id: t.Case, repeat: t.Repeat, started: t.Started, kind: t.Kind,
		class: t.Class, cause: t.Cause, evidence: t.Evidence, sufficiency: t.Sufficiency,
		total: t.Timing.Total, overhead: t.Timing.Overhead, censored: t.Timing.Censored,
		// A model error without a recorded call still waited for a model: it
		// must not leave the ratio as "no model call".
		noCall:  len(t.Calls) == 0 && t.Kind != journal.ModelError && !t.Timing.Censored,
		missing: t.Kind == journal.InfraError || t.Kind == journal.Skipped,
	}
	r.cut = r.censored || t.Kind == journal.ModelError && len(t.Calls) == 0
	switch t.Kind {
	case journal.Answered:
		r.abstains = t.Class == "" || t.Class == contract.InsufficientEvidence
	case journal.Abstained:
		r.abstains, r.class = true, contract.InsufficientEvidence
	default:
		r.class = ""
	}
	if t.Kind == journal.Answered || t.Kind == journal.Abstained {
		r.right = accepts(l, r.class)
		r.answered = !r.abstains || r.right
		ranked := append([]string{r.class}, t.Ranked...)
		seen := ranked[:0:0]
		for _, c := range ranked {
			if c != "" && !slices.Contains(seen, c) {
				seen = append(seen, c)
			}
		}
		for i, c := range seen {
			r.top = r.top || i < TopK && accepts(l, c)
		}
		for _, e := range t.Evidence {
			r.hit = r.hit || slices.Contains(l.Evidence, e)
		}
	}
	for _, c := range t.Calls {
		r.leftOut = r.leftOut || c.Cold || c.Reused
		// A call that failed before it wrote anything is no fast answer.
		r.cut = r.cut || t.Kind == journal.ModelError && c.ErrorKind != "" && c.OutputTokens == 0
		i := slices.IndexFunc(r.profiles, func(p profileTime) bool { return p.profile == c.Profile })
		if i < 0 {
			i = len(r.profiles)
			r.profiles = append(r.profiles, profileTime{profile: c.Profile})
		}
		p := &r.profiles[i]
		p.total += c.Timing.Total - c.Timing.Wait
		p.prefill += c.Timing.Prefill
		p.decode += c.Timing.Decode
	}
	return r
}

// state is what a case comes to in an arm after its repeats are reduced.
type state int8

const (
	missing state = iota // nothing to tell: infrastructure, skipped, unseen
	wrong
	right
)

// reduce is the strict majority over k planned repeats: right needs more than
// half, a tie is wrong. Repeats without an outcome leave it missing unless
// the others decide alone.
func reduce(rs []reading, k int, yes func(reading) bool) state {
	y, n := 0, 0
	for _, r := range rs {
		switch {
		case r.missing:
		case yes(r):
			y++
		default:
			n++
		}
	}
	k = max(k, len(rs))
	switch {
	case k == 0:
		return missing
	case 2*y > k:
		return right
	case 2*n >= k:
		return wrong
	}
	return missing
}

// typical is the most frequent (kind, class) among a case's repeats; the
// earliest wins a tie.
func typical(rs []reading) (reading, bool) {
	best, count := -1, 0
	for i, r := range rs {
		n := 0
		for _, q := range rs {
			if q.kind == r.kind && q.class == r.class {
				n++
			}
		}
		if n > count {
			best, count = i, n
		}
	}
	if best < 0 {
		return reading{}, false
	}
	return rs[best], true
}

// armReadings are one arm's readings by case, repeats in order.
type armReadings struct {
	cost    Cost
	name    string
	repeats int // planned repeats: the most that any case has
	byCase  map[string][]reading
}

func (a *armReadings) state(id string, yes func(reading) bool) state {
	if a == nil {
		return missing
	}
	return reduce(a.byCase[id], a.repeats, yes)
}

func isRight(r reading) bool    { return r.right }
func isTop(r reading) bool      { return r.top }
func isAnswered(r reading) bool { return r.answered }

// medianMS is the median over a case's repeats of a time, milliseconds.
func medianMS(rs []reading, keep func(reading) bool, of func(reading) time.Duration) (float64, bool) {
	var xs []float64
	for _, r := range rs {
		if !r.missing && keep(r) {
			xs = append(xs, ms(of(r)))
		}
	}
	return stats.Median(xs)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// collect reads the whole stream into readings by arm and case, and tallies
// what only the full trial shows.
func (s *scoring) collect() error {
	s.arms = map[string]*armReadings{}
	s.counts = map[journal.Kind]int{}
	for t, err := range s.in.Trials {
		if err != nil {
			return fmt.Errorf("reading trials: %w", err)
		}
		l, ok := s.in.Labels[t.Case]
		if !ok {
			return fmt.Errorf("%w: %s", ErrNoLabel, t.Case)
		}
		if _, seen := s.cases[t.Case]; !seen {
			if err := checkLabel(l, s.in.Taxonomy); err != nil {
				return err
			}
			s.cases[t.Case] = caseInfo{family: t.Family, corpus: t.Corpus}
		} else if c := s.cases[t.Case]; c.family != t.Family || c.corpus != t.Corpus {
			s.faults = append(s.faults, fmt.Sprintf("case %s has two families or corpora", t.Case))
			c.family, c.corpus = min(c.family, t.Family), min(c.corpus, t.Corpus)
			s.cases[t.Case] = c
		}
		a := s.arms[t.Arm]
		if a == nil {
			a = &armReadings{name: t.Arm, byCase: map[string][]reading{}}
			s.arms[t.Arm] = a
		}
		a.byCase[t.Case] = append(a.byCase[t.Case], read(t, l))
		a.cost.add(t)
		s.seen++
		s.counts[t.Kind]++
		if s.in.Spec.stack(t.Arm) {
			s.tally(t)
		}
	}
	for _, a := range s.arms {
		for id, rs := range a.byCase {
			slices.SortFunc(rs, func(x, y reading) int {
				return cmp.Or(cmp.Compare(x.repeat, y.repeat), x.started.Compare(y.started), cmp.Compare(x.key, y.key))
			})
			kept := slices.CompactFunc(rs, func(x, y reading) bool { return x.repeat == y.repeat })
			if len(kept) != len(rs) {
				s.faults = append(s.faults, fmt.Sprintf("%s was asked case %s more than once in one repeat", a.name, id))
			}
			a.byCase[id] = kept
			a.repeats = max(a.repeats, len(kept))
		}
	}
	for id := range s.cases {
		s.ids = append(s.ids, id)
	}
	slices.Sort(s.ids)
	slices.Sort(s.faults)
	s.faults = slices.Compact(s.faults)
	return nil
}
