package scorers

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers/stats"
	"github.com/fabriccore/assay/specialists/contract"
)

// caseRows shows each case over all arms: those on which arms differ first
// when the policy's limit cuts, then by id; the rows come sorted by id.
func (s *scoring) caseRows() {
	rows := make([]CaseRow, 0, len(s.ids))
	for _, id := range s.ids {
		rows = append(rows, s.caseRow(id))
	}
	if limit := s.in.Policy.Limits.CaseRows; len(rows) > limit {
		slices.SortStableFunc(rows, func(a, b CaseRow) int {
			switch {
			case a.Differs == b.Differs:
				return 0
			case a.Differs:
				return -1
			}
			return 1
		})
		s.result.CasesCut = len(rows) - limit
		rows = rows[:limit]
		slices.SortFunc(rows, func(a, b CaseRow) int { return cmp.Compare(a.Case, b.Case) })
	}
	for i := range rows {
		rows[i].Evidence = s.evidence(rows[i].Case)
	}
	s.result.Cases = rows
}

func (s *scoring) caseRow(id string) CaseRow {
	l := s.in.Labels[id]
	row := CaseRow{Case: id, Family: s.cases[id].family, Corpus: s.cases[id].corpus, Label: l.Class, Cause: l.Cause,
		Difficulty: l.Difficulty, Toolchain: l.Toolchain, LabelItems: append([]string{}, l.Evidence...), Answers: []CaseAnswer{}}
	rights, wrongs := 0, 0
	for _, name := range s.armNames() {
		a := s.arms[name]
		if a == nil || len(a.byCase[id]) == 0 {
			row.Answers = append(row.Answers, CaseAnswer{Arm: name, Kind: journal.Skipped})
			continue
		}
		r, _ := typical(a.byCase[id])
		st := a.state(id, isRight)
		if st == right {
			rights++
		} else if st == wrong {
			wrongs++
		}
		m, _ := medianMS(a.byCase[id], func(reading) bool { return true }, func(r reading) time.Duration { return r.total })
		row.Answers = append(row.Answers, CaseAnswer{Arm: name, Kind: r.kind, Class: r.class, Cause: r.cause,
			Evidence: r.evidence, Right: st == right, MS: stats.Round(m), Trial: r.key})
	}
	row.Differs = rights > 0 && wrongs > 0
	return row
}

// evidence is a case's items with their text cut to the policy's length; the
// hash stays that of the whole text.
func (s *scoring) evidence(id string) []contract.EvidenceItem {
	if s.in.Case == nil {
		return nil
	}
	c, ok := s.in.Case(id)
	if !ok {
		return nil
	}
	items := slices.Clone(c.Evidence)
	for i := range items {
		items[i].Text = cut(items[i].Text, s.in.Policy.Limits.EvidenceChars)
	}
	return items
}

// cut keeps the first and the last half of limit characters, and says how
// many of how many are shown.
func cut(text string, limit int) string {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	rs := []rune(text)
	head := (limit + 1) / 2
	return fmt.Sprintf("%s\n[… %d of %d characters shown …]\n%s", string(rs[:head]), limit, n, string(rs[n-(limit-head):]))
}
