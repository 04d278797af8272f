package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers"
)

// postureWords are the five words of F-001 with what each one promises.
var postureWords = []PostureWord{
	{Word: "advisory", Says: "results are advice: approvals, publication and completion stay with deterministic workflows and people"},
	{Word: "read-only", Says: "neither a Core Specialist nor a Micro-Agent holds a handle that writes"},
	{Word: "bounded", Says: "calls, tokens, time and fan-out have ceilings; no specialist calls another"},
	{Word: "fail-closed", Says: "a doubtful request, answer or policy ends as a refusal, never as a pass"},
	{Word: "reversible", Says: "switched off, callers get the bytes they would get had it never been there"},
}

// ruleRows are R1..R8 of F-003.
var ruleRows = []Rule{
	{ID: "R1", Says: "the Core registry is authoritative"},
	{ID: "R2", Says: "a typed sufficiency verdict comes before any model call"},
	{ID: "R3", Says: "the gateway is thin and the only door"},
	{ID: "R4", Says: "named a bounded specialist, and nothing more"},
	{ID: "R5", Says: "cancellation and flag-off have terminal semantics"},
	{ID: "R6", Says: "recovery is measured by its outcome", State: OutOfPhase, Why: "recovery starts with phase 2; nothing in phase 1 acts on a recommendation", Evidence: []string{"F-003", "F-066"}},
	{ID: "R7", Says: "the signed digest is the cache identity"},
	{ID: "R8", Says: "the phase-1 gates hold, all of them"},
}

// bindPosture fills the five rows. A given row wins; else the scorers' own row
// of the word ("F-001.read_only"); else the posture gates that name the word
// in their id or Evidence; else the row is open.
func bindPosture(given []PostureWord, gates []scorers.Gate) []PostureWord {
	out := slices.Clone(postureWords)
	for i := range out {
		w := &out[i]
		if j := slices.IndexFunc(given, func(g PostureWord) bool { return g.Word == w.Word }); j >= 0 {
			g := given[j]
			w.Check, w.State, w.Why, w.Evidence = g.Check, g.State, g.Why, g.Evidence
			if g.Says != "" {
				w.Says = g.Says
			}
		} else {
			w.Check, w.State, w.Why, w.Evidence = find(gates, postureRow(w.Word), func(g scorers.Gate) bool {
				return g.Dimension == "posture" && names(g, w.Word)
			})
		}
		if w.Check == "" && w.State != Fails || w.State == "" {
			w.State, w.Why = Open, orElse(w.Why, "no executed check is bound to this word")
		}
	}
	return out
}

// bindRules fills the eight rows in the same way; the scorers' own row has the
// rule's id, and the gates of F-156 are the check of R8.
func bindRules(given []Rule, gates []scorers.Gate) []Rule {
	out := slices.Clone(ruleRows)
	for i := range out {
		r := &out[i]
		if j := slices.IndexFunc(given, func(g Rule) bool { return g.ID == r.ID }); j >= 0 {
			g := given[j]
			r.Check, r.State, r.Why, r.Evidence = g.Check, g.State, g.Why, g.Evidence
			if g.Says != "" {
				r.Says = g.Says
			}
		} else {
			if check, state, why, evidence := find(gates, r.ID, func(g scorers.Gate) bool {
				return names(g, r.ID) || r.ID == "R8" && names(g, "F-156")
			}); check != "" || state != "" {
				r.Check, r.State, r.Why, r.Evidence = check, state, why, evidence
			}
		}
		if r.State == OutOfPhase && r.Why != "" {
			continue
		}
		if r.Check == "" && r.State != Fails || r.State == "" || r.State == OutOfPhase {
			r.State, r.Why = Open, orElse(r.Why, "no executed check is bound to this rule")
		}
	}
	return out
}

// postureRow is the id of the scorers' row of a posture word.
func postureRow(word string) string { return "F-001." + strings.ReplaceAll(word, "-", "_") }

// boundRow reports whether a gate only sums up others for a posture word or a
// rule: the report shows it there, beside what it is bound to.
func boundRow(id string) bool {
	return slices.ContainsFunc(postureWords, func(w PostureWord) bool { return postureRow(w.Word) == id }) ||
		slices.ContainsFunc(ruleRows, func(r Rule) bool { return r.ID == id })
}

// find takes the row with the id, whose Evidence are the checks it is bound
// to, or else sums up the gates that match.
func find(gates []scorers.Gate, id string, match func(scorers.Gate) bool) (check string, state State, why string, evidence []string) {
	i := slices.IndexFunc(gates, func(g scorers.Gate) bool { return g.ID == id })
	if i < 0 {
		return bound(gates, match)
	}
	_, state, why, _ = bound(gates[i:i+1], func(scorers.Gate) bool { return true })
	if state == Fails && len(gates[i].Evidence) == 0 {
		state = Open // nothing is bound to it
	}
	return strings.Join(gates[i].Evidence, ", "), state, why, nil
}

// bound sums up the gates that match: the worst of them counts.
func bound(gates []scorers.Gate, match func(scorers.Gate) bool) (check string, state State, why string, evidence []string) {
	var ids []string
	rank := -1
	for _, g := range gates {
		if !match(g) {
			continue
		}
		ids = append(ids, g.ID)
		evidence = merge(evidence, g.Evidence)
		s, r := Holds, 0
		switch {
		case g.Verdict == scorers.Qualified && !g.Open:
		case g.Open:
			s, r = Open, 2
		case g.Verdict == scorers.Inconclusive || g.Verdict == "":
			s, r = Unproven, 1
		default:
			s, r = Fails, 3
		}
		if r > rank {
			rank, state, why = r, s, g.Why
		}
	}
	return strings.Join(ids, ", "), state, why, evidence
}

// names reports whether a gate's id or evidence names word.
func names(g scorers.Gate, word string) bool {
	sep := func(r rune) bool { return strings.ContainsRune("./:, _", r) }
	has := func(s string) bool {
		s = strings.ToLower(s)
		w := strings.ToLower(word)
		return slices.Contains(strings.FieldsFunc(s, sep), w) ||
			slices.Contains(strings.FieldsFunc(strings.ReplaceAll(s, "_", "-"), func(r rune) bool { return r != '_' && sep(r) }), w)
	}
	return has(g.ID) || slices.ContainsFunc(g.Evidence, has)
}

// badness orders verdicts, worst highest; what is unknown is worst.
func badness(v scorers.Verdict) int {
	order := []scorers.Verdict{scorers.Qualified, scorers.Inconclusive, scorers.NotQualified, scorers.Invalid, scorers.Blocked}
	if i := slices.Index(order, v); i >= 0 {
		return i
	}
	return len(order)
}

// capVerdict returns the document's verdict: that of the scorers, or the worst
// that the document's own rows allow, with the reasons. It never makes a
// verdict better.
func capVerdict(d Document) (scorers.Verdict, []string) {
	v := d.Result.Verdict
	var why []string
	limit := func(at scorers.Verdict, reason string) {
		if badness(at) > badness(d.Result.Verdict) {
			why = append(why, "at best "+words(string(at))+": "+reason)
			if badness(at) > badness(v) {
				v = at
			}
		}
	}
	if badness(v) > badness(scorers.Blocked) {
		why = append(why, "invalid: the scorers gave no known verdict")
		v = scorers.Invalid
	}
	if len(d.Exploratory) > 0 {
		limit(scorers.Inconclusive, "the run is exploratory ("+strings.Join(d.Exploratory, "; ")+")")
	}
	for _, r := range d.Routes {
		if len(r.Drift) > 0 {
			limit(scorers.Invalid, r.Arm+" was not the same route before and after the run")
		}
	}
	byState := func(each func(func(State, string))) map[State][]string {
		m := map[State][]string{}
		each(func(s State, name string) { m[s] = append(m[s], name) })
		return m
	}
	posture := byState(func(add func(State, string)) {
		for _, p := range d.Posture {
			s := p.State
			if s == Open && (p.Check != "" || openRow(d.Result.Gates, p.Word)) {
				s = Unproven // a check is bound to it and waits for others
			}
			add(s, p.Word)
		}
	})
	rules := byState(func(add func(State, string)) {
		for _, r := range d.Rules {
			add(r.State, r.ID)
		}
	})
	for _, c := range []struct {
		names []string
		at    scorers.Verdict
		says  string
	}{
		{posture[Open], scorers.NotQualified, "no executed check stands behind posture: %s (F-001)"},
		{posture[Fails], scorers.NotQualified, "the check failed behind posture: %s (F-001)"},
		{posture[Unproven], scorers.Inconclusive, "the check reached no verdict behind posture: %s (F-001)"},
		{rules[Fails], scorers.NotQualified, "binding rules do not hold: %s (F-003)"},
		{append(rules[Open], rules[Unproven]...), scorers.Inconclusive, "binding rules are not shown to hold: %s (F-003)"},
	} {
		if len(c.names) > 0 {
			limit(c.at, fmt.Sprintf(c.says, strings.Join(c.names, ", ")))
		}
	}
	for _, g := range d.Result.Gates {
		if g.Open {
			limit(scorers.Inconclusive, "gate "+g.ID+" is open")
		} else if badness(g.Verdict) > badness(scorers.Qualified) {
			at := g.Verdict
			if badness(at) > badness(scorers.Blocked) {
				at = scorers.Inconclusive
			}
			limit(at, "gate "+g.ID+" is "+words(string(orVerdict(g.Verdict))))
		}
	}
	if len(d.Result.Gates) == 0 {
		limit(scorers.Inconclusive, "no gate was applied")
	}
	switch n := total(d.Run.Counts); {
	case n > d.Run.Planned:
		limit(scorers.Invalid, fmt.Sprintf("%d trials are counted, only %d were planned", n, d.Run.Planned))
	case n < d.Run.Planned:
		limit(scorers.Inconclusive, fmt.Sprintf("%d of %d planned trials have no outcome", d.Run.Planned-n, d.Run.Planned))
	}
	return v, why
}

// openRow reports whether the scorers have a row of the word that is open and
// no worse.
func openRow(gates []scorers.Gate, word string) bool {
	return slices.ContainsFunc(gates, func(g scorers.Gate) bool {
		return g.ID == postureRow(word) && g.Open && g.Verdict == scorers.Inconclusive
	})
}

func total(counts map[journal.Kind]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

func orVerdict(v scorers.Verdict) scorers.Verdict {
	if v == "" {
		return "without a verdict"
	}
	return v
}

// words turns an identifier into words.
func words(id string) string { return strings.ReplaceAll(id, "_", " ") }

func orElse(s, or string) string {
	if s == "" {
		return or
	}
	return s
}
