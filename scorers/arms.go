package scorers

import (
	"slices"

	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers/stats"
	"github.com/fabriccore/assay/specialists/contract"
)

// intervalLevel is the two-sided level of descriptive intervals.
const intervalLevel = 0.95

// rate is a Wilson figure over cases; it says in how many families they lie
// and what is missing.
func (s *scoring) rate(k, n, missing int, families map[string]bool) stats.Figure {
	f := stats.Wilson(k, n, intervalLevel)
	f.Clusters = len(families)
	if f.OK() && len(families) > 0 && len(families) < n {
		f = f.Warn("%d cases in %d families: Wilson takes cases as independent", n, len(families))
	}
	if missing > 0 {
		f = f.Warn("%d of %d planned cases have no outcome", missing, n+missing)
	}
	return f
}

// rateOver counts yes over the cases of an arm that keep selects.
func (s *scoring) rateOver(a *armReadings, ids []string, yes func(reading) bool) stats.Figure {
	k, n, gone := 0, 0, 0
	fams := map[string]bool{}
	for _, id := range ids {
		switch a.state(id, yes) {
		case missing:
			gone++
			continue
		case right:
			k++
		}
		n++
		fams[s.cases[id].family] = true
	}
	return s.rate(k, n, gone, fams)
}

// where filters case ids.
func where(ids []string, keep func(string) bool) []string {
	var out []string
	for _, id := range ids {
		if keep(id) {
			out = append(out, id)
		}
	}
	return out
}

func (s *scoring) scoreArms() {
	s.result.Arms = []ArmScore{}
	for _, name := range s.armNames() {
		a := s.arms[name]
		if a == nil {
			a = &armReadings{name: name, byCase: map[string][]reading{}}
		}
		s.result.Arms = append(s.result.Arms, s.scoreArm(a))
	}
}

func (s *scoring) scoreArm(a *armReadings) ArmScore {
	out := ArmScore{Arm: a.name, Planned: len(s.ids) * max(a.repeats, 1), Cases: len(s.ids), Counts: map[journal.Kind]int{}}
	for _, k := range journal.Kinds {
		out.Counts[k] = 0
	}
	seen := 0
	for _, id := range s.ids {
		for _, r := range a.byCase[id] {
			out.Counts[r.kind]++
			seen++
		}
		if a.state(id, isRight) == missing {
			out.Missing++
		}
		if r, ok := typical(a.byCase[id]); ok && r.noCall && !r.missing && r.sufficiency == contract.SufficiencyResolved {
			out.Resolved++
		}
	}
	out.Unseen = out.Planned - seen
	difficulty := func(d string) []string {
		return where(s.ids, func(id string) bool { return s.in.Labels[id].Difficulty == d })
	}
	answered := where(s.ids, func(id string) bool { return a.state(id, isAnswered) == right })
	out.Accuracy = s.rateOver(a, s.ids, isRight)
	out.TopK = s.rateOver(a, s.ids, isTop)
	out.Coverage = s.rateOver(a, s.ids, isAnswered)
	out.Selective = s.rateOver(a, answered, isRight)
	out.Subset = s.rateOver(a, s.subset.ids, isRight)
	out.Hard = s.rateOver(a, difficulty("hard"), isRight)
	out.Easy = s.rateOver(a, difficulty("easy"), isRight)
	out.Evidence = s.rateOver(a, where(answered, func(id string) bool {
		return len(s.in.Labels[id].Evidence) > 0
	}), func(r reading) bool { return r.hit })
	s.classes(a, &out)
	return out
}

// outside is the confusion column of an answer that is no class.
const outside = "outside_taxonomy"

// classes fills the confusion matrix from each case's typical answer, and
// recall and precision from the reduced right and wrong.
func (s *scoring) classes(a *armReadings, out *ArmScore) {
	classes := s.in.Taxonomy.IDs()
	columns := append(slices.Clone(classes), string(journal.Abstained), string(journal.Refused),
		string(journal.ModelError), string(journal.InfraError), string(journal.Skipped), outside)
	out.Confusion = Confusion{Classes: classes, Columns: columns, Counts: make([][]int, len(classes))}
	for i := range classes {
		out.Confusion.Counts[i] = make([]int, len(columns))
	}
	answered := map[string]map[bool]int{}
	for _, id := range s.ids {
		r, ok := typical(a.byCase[id])
		col := string(journal.Skipped)
		switch {
		case !ok:
		case slices.Contains(classes, r.class):
			col = r.class
		case r.kind == journal.Answered:
			col = outside
		default:
			col = string(r.kind)
		}
		row := slices.Index(classes, s.in.Labels[id].Class)
		out.Confusion.Counts[row][slices.Index(columns, col)]++
		if ok && !r.missing && r.class != "" {
			if answered[r.class] == nil {
				answered[r.class] = map[bool]int{}
			}
			answered[r.class][accepts(s.in.Labels[id], r.class)]++
		}
	}
	out.ByClass = []ClassScore{}
	for _, c := range classes {
		hits := answered[c]
		out.ByClass = append(out.ByClass, ClassScore{
			Class:     c,
			Recall:    s.rateOver(a, where(s.ids, func(id string) bool { return s.in.Labels[id].Class == c }), isRight),
			Precision: stats.Wilson(hits[true], hits[true]+hits[false], intervalLevel),
		})
	}
}
