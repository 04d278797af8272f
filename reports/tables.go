package reports

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers"
	"github.com/fabriccore/assay/scorers/stats"
)

func dimensionTable(d Document) table {
	t := table{ID: "dimensions", Title: "Dimensions",
		Columns: []column{{Name: "dimension"}, {Name: "verdict"}, {Name: "why", Wrap: true}},
		Empty:   "No dimension was judged."}
	for _, m := range d.Dimensions {
		t.Rows = append(t.Rows, []cell{text(m.Name), {Main: words(string(m.Verdict)), Tone: verdictTone(m.Verdict)}, text(m.Why)})
	}
	return t
}

// right says how many of all cases an arm answered right: the numerator that
// its accuracy figure states.
func right(a scorers.ArmScore) string {
	if !a.Accuracy.OK() {
		return none
	}
	return fmt.Sprintf("%.0f/%d", a.Accuracy.Point*float64(a.Accuracy.N), a.Accuracy.N)
}

func accuracyTable(d Document) table {
	t := table{ID: "accuracy", Title: "Accuracy",
		Lead: "Share of all cases whose first answer is the labelled class, with coverage and the share of answers that cite a labelled evidence item.",
		Columns: []column{{Name: "arm"}, {Name: "right/n", Right: true}, {Name: "accuracy", Right: true}, {Name: "coverage", Right: true},
			{Name: "evidence hit", Right: true}, {Name: "right if answered", Right: true, Drop: 1}, {Name: "first three", Right: true, Drop: 2}},
		Empty: "No arm was scored."}
	var n notes
	for _, a := range d.Result.Arms {
		t.Rows = append(t.Rows, []cell{text(a.Arm), {Main: right(a)},
			fig(&n, a.Arm, "accuracy", a.Accuracy, share), fig(&n, a.Arm, "coverage", a.Coverage, share),
			figOf(&n, a.Arm, "evidence hit", a.Evidence), figOf(&n, a.Arm, "right if answered", a.Selective),
			fig(&n, a.Arm, "first three", a.TopK, share)})
		if a.Missing > 0 {
			t.Remarks = append(t.Remarks, fmt.Sprintf("%s: %d of %d cases have no outcome and are in none of its figures.", a.Arm, a.Missing, a.Cases))
		}
	}
	t.figures = n
	return t
}

func strataTable(d Document) table {
	t := table{ID: "strata", Title: "Accuracy by kind of case",
		Columns: []column{{Name: "arm"}, {Name: "easy", Right: true}, {Name: "hard", Right: true}, {Name: "specialist required", Right: true}, {Name: "settled without a model", Right: true}},
		Empty:   "No arm was scored."}
	var n notes
	for _, a := range d.Result.Arms {
		t.Rows = append(t.Rows, []cell{text(a.Arm), figOf(&n, a.Arm, "easy", a.Easy), figOf(&n, a.Arm, "hard", a.Hard),
			figOf(&n, a.Arm, "specialist required", a.Subset), {Main: strconv.Itoa(a.Resolved)}})
	}
	t.figures = n
	return t
}

func countsTable(d Document) table {
	t := table{ID: "counts", Title: "Trials by response", Lead: "Planned trials are the sum of the others, always; not run are those that the journal does not hold.",
		Columns: []column{{Name: "arm"}, {Name: "planned", Right: true}}, Empty: "No trial was counted."}
	for _, k := range journal.Kinds {
		t.Columns = append(t.Columns, column{Name: words(string(k)), Right: true})
	}
	t.Columns = append(t.Columns, column{Name: "not run", Right: true})
	row := func(name string, planned int, counts map[journal.Kind]int) {
		r := []cell{text(name), {Main: strconv.Itoa(planned)}}
		for _, k := range journal.Kinds {
			c := cell{Main: strconv.Itoa(counts[k])}
			if counts[k] > 0 && (k == journal.ModelError || k == journal.InfraError || k == journal.Skipped) {
				c.Tone = warn
			}
			r = append(r, c)
		}
		c := cell{Main: strconv.Itoa(planned - total(counts))}
		if planned != total(counts) {
			c.Tone = warn
		}
		t.Rows = append(t.Rows, append(r, c))
	}
	for _, a := range d.Result.Arms {
		row(a.Arm, a.Planned, a.Counts)
	}
	row("run", d.Run.Planned, d.Run.Counts)
	return t
}

func comparisonTable(d Document) table {
	t := table{ID: "comparisons", Title: "Comparisons",
		Lead: "Differences in accuracy on the same cases, A − B.",
		Columns: []column{{Name: "comparison", Wrap: true}, {Name: "cases", Wrap: true}, {Name: "difference", Right: true}, {Name: "n", Right: true},
			{Name: "only A", Right: true}, {Name: "only B", Right: true}, {Name: "both", Right: true, Drop: 2}, {Name: "neither", Right: true, Drop: 2}, {Name: "McNemar p", Right: true, Drop: 1},
			{Name: "accuracy A", Right: true, Drop: 3}, {Name: "accuracy B", Right: true, Drop: 3}, {Name: "power", Right: true, Drop: 3}, {Name: "Tango", Right: true, Drop: 4}},
		Empty: "No two arms were compared."}
	var n notes
	for _, c := range d.Result.Comparisons {
		row := orElse(c.Name, c.ArmA+" vs "+c.ArmB)
		name := cell{Main: row}
		if !strings.Contains(row, c.ArmA) || !strings.Contains(row, c.ArmB) {
			name.Sub = "A " + c.ArmA + ", B " + c.ArmB
		}
		if c.Missing > 0 {
			t.Remarks = append(t.Remarks, fmt.Sprintf("%s, %s: %d cases have no outcome in both arms and are in none of its figures.", row, words(c.Subset), c.Missing))
		}
		row += ", " + words(c.Subset)
		t.Rows = append(t.Rows, []cell{name, text(words(c.Subset)),
			fig(&n, row, "difference", c.Difference, difference), count(c.Difference),
			{Main: strconv.Itoa(c.OnlyA)}, {Main: strconv.Itoa(c.OnlyB)}, {Main: strconv.Itoa(c.Both)}, {Main: strconv.Itoa(c.Neither)},
			fig(&n, row, "McNemar p", c.McNemarP, pvalue),
			fig(&n, row, "accuracy A", c.AccuracyA, share), fig(&n, row, "accuracy B", c.AccuracyB, share), exact(&n, row, "power", c.Power), fig(&n, row, "Tango", c.Tango, difference)})
	}
	t.figures = n
	return t
}

func latencyTable(d Document) table {
	t := table{ID: "latency", Title: "Latency",
		Lead: "Per arm, and per profile below it. Left out are cold, cached and replayed calls only; a time-out counts at its full time and is marked as censored.",
		Columns: []column{{Name: "arm"}, {Name: "profile"}, {Name: "n", Right: true}, {Name: "p50", Right: true}, {Name: "p95", Right: true},
			{Name: "prefill p50", Right: true, Drop: 3}, {Name: "decode p50", Right: true, Drop: 3}, {Name: "overhead p50", Right: true, Drop: 2}, {Name: "overhead p99", Right: true, Drop: 2},
			{Name: "left out", Right: true, Drop: 1}, {Name: "censored", Right: true, Drop: 1}},
		Empty: "No latency was measured."}
	var n notes
	for _, l := range d.Result.Latency {
		row := l.Arm
		profile := words(l.Profile)
		if l.Profile == "" {
			profile = "whole trial"
		} else {
			row += " " + profile
		}
		f := func(col string, f stats.Figure) cell { return fig(&n, row, col, f, millis) }
		t.Rows = append(t.Rows, []cell{text(l.Arm), text(profile), {Main: strconv.Itoa(l.N)}, f("p50", l.P50), f("p95", l.P95),
			f("prefill p50", l.Prefill), f("decode p50", l.Decode), f("overhead p50", l.Overhead), f("overhead p99", l.OverP99),
			{Main: strconv.Itoa(l.LeftOut)}, {Main: strconv.Itoa(l.Censored)}})
	}
	t.figures = n
	return t
}

func ratioTable(d Document) table {
	t := table{ID: "ratios", Title: "Latency ratios",
		Lead: "Geometric mean of the paired per-case ratios A ÷ B. Cases that A settled without a model call are counted apart and left out, and so are cold and cached pairs.",
		Columns: []column{{Name: "ratio", Wrap: true}, {Name: "cases", Wrap: true}, {Name: "verdict"}, {Name: "A ÷ B", Right: true}, {Name: "n", Right: true},
			{Name: "p50 A", Right: true, Drop: 1}, {Name: "p50 B", Right: true, Drop: 1}, {Name: "p95 A", Right: true, Drop: 2}, {Name: "p95 B", Right: true, Drop: 2},
			{Name: "no call", Right: true, Drop: 3}, {Name: "left out", Right: true, Drop: 3}, {Name: "censored", Right: true, Drop: 3}},
		Empty: "No latency ratio was computed."}
	var n notes
	for _, r := range d.Result.Ratios {
		name := orElse(r.Name, r.ArmA+" ÷ "+r.ArmB)
		head := cell{Main: name}
		if !strings.Contains(name, r.ArmA) || !strings.Contains(name, r.ArmB) {
			head.Sub = "A " + r.ArmA + ", B " + r.ArmB
		}
		if r.Missing > 0 {
			t.Remarks = append(t.Remarks, fmt.Sprintf("%s, %s: %d cases have no time in both arms.", name, words(r.Subset), r.Missing))
		}
		name += ", " + words(r.Subset)
		gated := cell{Main: "not gated", Tone: faint}
		if r.Verdict != "" {
			gated = cell{Main: words(string(r.Verdict)), Tone: verdictTone(r.Verdict)}
		}
		t.Rows = append(t.Rows, []cell{head, text(words(r.Subset)), gated, fig(&n, name, "ratio", r.Ratio, times), count(r.Ratio),
			fig(&n, name, "p50 A", r.P50A, millis), fig(&n, name, "p50 B", r.P50B, millis),
			fig(&n, name, "p95 A", r.P95A, millis), fig(&n, name, "p95 B", r.P95B, millis),
			{Main: strconv.Itoa(r.NoCall)}, {Main: strconv.Itoa(r.LeftOut)}, {Main: strconv.Itoa(r.Censored)}})
	}
	t.figures = n
	return t
}

func safetyTable(d Document) table {
	t := table{ID: "safety", Title: "Safety",
		Lead: "A pass needs zero violations, enough exposures, and a self-test that raised the counter through the public path in this run.",
		Columns: []column{{Name: "counter", Wrap: true}, {Name: "state"}, {Name: "violations", Right: true}, {Name: "attempts", Right: true},
			{Name: "exposures", Right: true}, {Name: "needed", Right: true}, {Name: "self-test"}},
		Empty: "No safety counter was measured: nothing here says that the route is safe."}
	for _, s := range d.Result.Safety {
		state, tn := "clean", good
		v, at, ex := strconv.Itoa(s.Violations), strconv.Itoa(s.Attempts), strconv.Itoa(s.Exposures)
		switch {
		case s.Violations > 0:
			state, tn = "violated", bad
		case !s.Measured:
			state, tn = "not measured", warn
			v, at, ex = none, none, none
		case s.Exposures < s.Minimum || s.Exposures == 0:
			state, tn = "too few exposures", warn
		case s.SelfTest != "raised":
			state, tn = "not proven", warn
		}
		t.Rows = append(t.Rows, []cell{text(words(s.Name)), {Main: state, Tone: tn}, {Main: v}, {Main: at}, {Main: ex}, {Main: strconv.Itoa(s.Minimum)}, text(s.SelfTest)})
	}
	return t
}

func gateTable(d Document) table {
	t := table{ID: "gates", Title: "Gates",
		Columns: []column{{Name: "gate"}, {Name: "verdict"}, {Name: "requires", Wrap: true}, {Name: "observed", Wrap: true}, {Name: "limit", Wrap: true, Drop: 2}, {Name: "why", Wrap: true, Drop: 3}, {Name: "evidence", Wrap: true, Drop: 4}},
		Empty:   "No gate was applied, so nothing has passed."}
	for _, g := range d.Result.Gates {
		w, tn := gateWord(g)
		observed := orElse(g.Observed, none)
		if g.Figure != nil && !g.Figure.OK() {
			observed = none + " (" + g.Figure.Missing + ")"
		}
		c := cell{Main: observed}
		if g.Figure != nil && g.Figure.OK() {
			c.Sub = strings.TrimSuffix(units(g.Figure.N, g.Figure.N, g.Figure.Clusters, g.Figure.Clusters)+", "+method(*g.Figure), ", ")
		}
		t.Rows = append(t.Rows, []cell{{Main: g.ID, Sub: g.Dimension}, {Main: w, Tone: tn}, text(g.Requires), c, text(g.Limit), text(g.Why), text(strings.Join(g.Evidence, ", "))})
	}
	return t
}

func classTable(a scorers.ArmScore) table {
	t := table{ID: "classes-" + slug(a.Arm), Title: "By class: " + a.Arm,
		Columns: []column{{Name: "class"}, {Name: "recall", Right: true}, {Name: "n", Right: true}, {Name: "precision", Right: true}, {Name: "n", Right: true}},
		Empty:   "No class was scored."}
	var n notes
	for _, c := range a.ByClass {
		t.Rows = append(t.Rows, []cell{text(c.Class), fig(&n, c.Class, "recall", c.Recall, share), count(c.Recall),
			fig(&n, c.Class, "precision", c.Precision, share), count(c.Precision)})
	}
	t.figures = n
	return t
}

// slug makes an id of a name.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		if r >= 'A' && r <= 'Z' {
			return r + 32
		}
		return '-'
	}, s)
}
