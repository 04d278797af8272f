package scorers

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fabriccore/assay/scorers/stats"
	"github.com/fabriccore/assay/specialists/contract"
)

// times publishes the latency table per arm and profile (F-104, H-011) and
// the paired ratios.
func (s *scoring) times() {
	s.result.Latency = []LatencyRow{}
	for _, name := range s.armNames() {
		if a := s.arms[name]; a != nil {
			s.result.Latency = append(s.result.Latency, s.armTimes(a))
			s.result.Latency = append(s.result.Latency, s.profileTimes(a)...)
		}
	}
	s.result.Ratios = []LatencyRatio{}
	a, b := s.in.Spec.Candidate, s.in.Spec.LatencyReference
	if a == "" || b == "" {
		return
	}
	total := func(r reading) (time.Duration, bool) { return r.total, r.total > 0 }
	s.ratio(subsetAll, "core ÷ bare, whole trial", a, b, s.ids, 0, total)
	s.ratio(subsetRequired, "core ÷ bare, whole trial", a, b, s.subset.ids, len(s.subset.unknown), total)
	for _, p := range s.profiles(s.arms[a]) {
		if !slices.Contains(s.profiles(s.arms[b]), p) {
			continue
		}
		s.ratio("profile:"+string(p), "core ÷ bare, inside calls of "+string(p), a, b, s.ids, 0, func(r reading) (time.Duration, bool) {
			for _, t := range r.profiles {
				if t.profile == p {
					return t.total, t.total > 0
				}
			}
			return 0, false
		})
	}
}

// timed reports whether a reading's time counts in the table.
func timed(r reading) bool { return !r.leftOut && r.total > 0 }

// msFigures are the p50 and p95 over cases of a time, after repeats are
// reduced to their median.
func (s *scoring) msFigures(a *armReadings, keep func(reading) bool, of func(reading) time.Duration, ps ...float64) (out []stats.Figure, n int) {
	var xs []float64
	fams := map[string]bool{}
	for _, id := range s.ids {
		if m, ok := medianMS(a.byCase[id], keep, of); ok {
			xs = append(xs, m)
			fams[s.cases[id].family] = true
		}
	}
	for _, p := range ps {
		f := stats.Quantile(xs, p, intervalLevel)
		f.Clusters = len(fams)
		out = append(out, f.In("ms", 1))
	}
	return out, len(xs)
}

func (s *scoring) armTimes(a *armReadings) LatencyRow {
	row := LatencyRow{Arm: a.name}
	q, n := s.msFigures(a, timed, func(r reading) time.Duration { return r.total }, 0.5, 0.95)
	row.N, row.P50, row.P95 = n, q[0], q[1]
	called := func(r reading) bool { return timed(r) && !r.noCall }
	sum := func(of func(profileTime) time.Duration) func(reading) time.Duration {
		return func(r reading) (d time.Duration) {
			for _, p := range r.profiles {
				d += of(p)
			}
			return d
		}
	}
	q, _ = s.msFigures(a, called, sum(func(p profileTime) time.Duration { return p.prefill }), 0.5)
	row.Prefill = q[0]
	q, _ = s.msFigures(a, called, sum(func(p profileTime) time.Duration { return p.decode }), 0.5)
	row.Decode = q[0]
	q, _ = s.msFigures(a, func(r reading) bool { return r.total > 0 }, func(r reading) time.Duration { return r.overhead }, 0.5, 0.99)
	row.Overhead, row.OverP99 = q[0], q[1]
	for _, rs := range a.byCase {
		for _, r := range rs {
			if r.leftOut {
				row.LeftOut++
			}
			if r.censored {
				row.Censored++
			}
		}
	}
	return row
}

func (s *scoring) profiles(a *armReadings) []contract.Profile {
	set := map[contract.Profile]bool{}
	if a != nil {
		for _, rs := range a.byCase {
			for _, r := range rs {
				for _, p := range r.profiles {
					set[p.profile] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func (s *scoring) profileTimes(a *armReadings) []LatencyRow {
	var rows []LatencyRow
	for _, p := range s.profiles(a) {
		find := func(r reading) (profileTime, bool) {
			for _, t := range r.profiles {
				if t.profile == p {
					return t, true
				}
			}
			return profileTime{}, false
		}
		keep := func(r reading) bool { _, ok := find(r); return ok && timed(r) }
		of := func(part func(profileTime) time.Duration) func(reading) time.Duration {
			return func(r reading) time.Duration { t, _ := find(r); return part(t) }
		}
		row := LatencyRow{Arm: a.name, Profile: string(p)}
		q, n := s.msFigures(a, keep, of(func(t profileTime) time.Duration { return t.total }), 0.5, 0.95)
		row.N, row.P50, row.P95 = n, q[0], q[1]
		q, _ = s.msFigures(a, keep, of(func(t profileTime) time.Duration { return t.prefill }), 0.5)
		row.Prefill = q[0]
		q, _ = s.msFigures(a, keep, of(func(t profileTime) time.Duration { return t.decode }), 0.5)
		row.Decode = q[0]
		none := stats.None("", "overhead belongs to the whole trial")
		row.Overhead, row.OverP99 = none, none
		for _, rs := range a.byCase {
			for _, r := range rs {
				if _, ok := find(r); ok && r.leftOut {
					row.LeftOut++
				}
				if _, ok := find(r); ok && r.censored {
					row.Censored++
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// pairTime is one repeat of one case in both arms.
type pairTime struct {
	a, b     float64 // ms
	log      float64 // natural log of a/b
	censored bool    // a ended before its answer: the ratio is at least this
}

// ratio is the geometric mean over cases of A's time over B's. Repeats pair
// by number and reduce to their median log. Time-outs count at their full
// elapsed time; where A's own call was cut off, by time-out or by an error
// before it wrote anything, its true ratio is longer, so
// the largest ratio of any uncut pair stands for it if that is larger, and
// the censored share is limited by the policy. Where B was cut off, its
// elapsed time is the shortest possible and so already the worst case for A.
func (s *scoring) ratio(sub, name, armA, armB string, ids []string, unknown int, of func(reading) (time.Duration, bool)) {
	out := LatencyRatio{Name: name, ArmA: armA, ArmB: armB, Subset: sub, Missing: unknown}
	byCase := map[string][]pairTime{}
	worst := math.Inf(-1)
	for _, id := range ids {
		ps, why := s.pairTimes(id, armA, armB, of)
		switch why {
		case "":
			byCase[id] = ps
			for _, p := range ps {
				if !p.censored {
					worst = max(worst, p.log)
				}
			}
		case "no_call":
			out.NoCall++
		case "left_out":
			out.LeftOut++
		default:
			out.Missing++
		}
	}
	var logs, as, bs []float64
	var fams []string
	for _, id := range ids {
		ps := byCase[id]
		if len(ps) == 0 {
			continue
		}
		var ls, xa, xb []float64
		cut := false
		for _, p := range ps {
			l := p.log
			if p.censored {
				l, cut = max(l, worst), true
			}
			ls, xa, xb = append(ls, l), append(xa, p.a), append(xb, p.b)
		}
		if cut {
			out.Censored++
		}
		l, _ := stats.Median(ls)
		a, _ := stats.Median(xa)
		b, _ := stats.Median(xb)
		logs, as, bs = append(logs, l), append(as, a), append(bs, b)
		fams = append(fams, s.cases[id].family)
	}
	out.Ratio = stats.GeoMeanRatio(stats.ByCluster(logs, fams), s.opts)
	for _, w := range []struct {
		n    int
		text string
	}{
		{out.NoCall, "settled with no model call"},
		{out.LeftOut, "left out as cold or with a reused prefix"},
		{out.Missing, "without a time in both arms"},
		{out.Censored, "cut off by a time-out or an error: the worst ratio seen stands for them"},
	} {
		if w.n > 0 {
			out.Ratio = out.Ratio.Warn("%d of %d cases %s", w.n, len(ids)+unknown, w.text)
		}
	}
	q := func(xs []float64, p float64) stats.Figure { return stats.Quantile(xs, p, intervalLevel).In("ms", 1) }
	out.P50A, out.P95A, out.P50B, out.P95B = q(as, 0.5), q(as, 0.95), q(bs, 0.5), q(bs, 0.95)
	s.result.Ratios = append(s.result.Ratios, out)
	s.ratios[sub] = len(s.result.Ratios) - 1
}

// pairTimes pairs a case's repeats; why says why there is no pair.
func (s *scoring) pairTimes(id, armA, armB string, of func(reading) (time.Duration, bool)) (ps []pairTime, why string) {
	var as, bs []reading
	if a := s.arms[armA]; a != nil {
		as = a.byCase[id]
	}
	if b := s.arms[armB]; b != nil {
		bs = b.byCase[id]
	}
	why = "missing"
	for _, a := range as {
		if !a.missing && a.noCall {
			why = "no_call"
			continue
		}
		i := slices.IndexFunc(bs, func(b reading) bool { return b.repeat == a.repeat })
		if i < 0 || a.missing || bs[i].missing {
			continue
		}
		b := bs[i]
		if a.leftOut || b.leftOut {
			if why != "no_call" {
				why = "left_out"
			}
			continue
		}
		x, okA := of(a)
		y, okB := of(b)
		if !okA || !okB {
			continue
		}
		ps = append(ps, pairTime{a: ms(x), b: ms(y), log: math.Log(float64(x) / float64(y)), censored: a.cut})
	}
	if len(ps) > 0 {
		why = ""
	}
	return ps, why
}

// ratioText words a ratio with its bound and n.
func ratioText(r *LatencyRatio) string {
	f := r.Ratio
	return fmt.Sprintf("%s×, upper bound %s× (n = %d cases, %d families; %d with no model call, %d left out)",
		num(f.Point), num(f.Hi), f.N, f.Clusters, r.NoCall, r.LeftOut)
}
