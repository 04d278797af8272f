package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fabriccore/assay/scorers"
)

// briefTables are what a person needs on a terminal after a run: one row an
// arm, the gated comparisons and ratios, the gates without the rows that only
// sum others up. The rest stands in the report's files.
func briefTables(d Document) []table {
	b := d
	b.Result.Comparisons = nil
	for _, c := range d.Result.Comparisons {
		mine := len(d.Suite.Candidate) == 0 || slices.Contains(d.Suite.Candidate, c.ArmA)
		if mine && (c.Subset == "all" || strings.Contains(c.Name, "baseline")) {
			b.Result.Comparisons = append(b.Result.Comparisons, c)
		}
	}
	b.Result.Latency = nil
	for _, l := range d.Result.Latency {
		if l.Profile == "" {
			b.Result.Latency = append(b.Result.Latency, l)
		}
	}
	b.Result.Ratios = nil
	for _, r := range d.Result.Ratios {
		if !strings.HasPrefix(r.Subset, "profile:") {
			b.Result.Ratios = append(b.Result.Ratios, r)
		}
	}
	return []table{accuracyTable(b), shortComparisons(b), latencyTable(b), ratioTable(b), shortGates(b)}
}

// shortComparisons names what is compared without repeating the arms.
func shortComparisons(d Document) table {
	t := table{ID: "comparisons", Title: "Accuracy against other arms",
		Columns: []column{{Name: "candidate against", Wrap: true}, {Name: "cases", Wrap: true}, {Name: "difference", Right: true}, {Name: "n", Right: true},
			{Name: "only it", Right: true}, {Name: "only other", Right: true}},
		Empty: "No two arms were compared."}
	var n notes
	for _, c := range d.Result.Comparisons {
		name := orElse(c.ArmB, "no such arm")
		if i := strings.Index(c.Name, " vs "); i >= 0 {
			what, _, _ := strings.Cut(c.Name[i+4:], " (")
			name = orElse(what, name) + " (" + orElse(c.ArmB, none) + ")"
		}
		t.Rows = append(t.Rows, []cell{text(name), text(words(c.Subset)), fig(&n, name, "difference", c.Difference, difference), count(c.Difference),
			text(fmt.Sprint(c.OnlyA)), text(fmt.Sprint(c.OnlyB))})
	}
	t.figures = n
	return t
}

// shortGates has one line a gate: its verdict and why.
func shortGates(d Document) table {
	t := table{ID: "gates", Title: "Gates",
		Columns: []column{{Name: "gate"}, {Name: "verdict"}, {Name: "why", Wrap: true}},
		Empty:   "No gate was applied, so nothing has passed."}
	summed, held := 0, 0
	for _, g := range d.Result.Gates {
		if boundRow(g.ID) {
			summed++
			if g.Verdict == scorers.Qualified && !g.Open {
				held++
			}
			continue
		}
		w, tn := gateWord(g)
		t.Rows = append(t.Rows, []cell{text(g.ID), {Main: w, Tone: tn}, text(orElse(g.Why, g.Observed))})
	}
	if summed > 0 {
		w, tn := "passed", good
		if held < summed {
			w, tn = "open", warn
		}
		t.Rows = append(t.Rows, []cell{text("F-001, R1–R8"), {Main: w, Tone: tn}, text(fmt.Sprintf("%d of %d rows that bind other gates hold", held, summed))})
	}
	return t
}

// rest says in one line each what a brief report leaves to its files.
func (p painter) rest(d Document) {
	fmt.Fprintln(p)
	line := func(n int, one, many string) {
		if n == 1 {
			fmt.Fprintf(p, "  %d %s\n", n, one)
		} else if n > 1 {
			fmt.Fprintf(p, "  %d %s\n", n, many)
		}
	}
	line(len(d.OpenGates), "row is open and can't pass yet", "rows are open and can't pass yet")
	line(len(d.NotMeasured), "thing was not measured", "things were not measured")
	differ := 0
	for _, c := range d.Result.Cases {
		if c.Differs {
			differ++
		}
	}
	line(differ, "case is answered differently by the arms", "cases are answered differently by the arms")
	fmt.Fprintln(p, "  All of it, with evidence, stands in the report below.")
}
