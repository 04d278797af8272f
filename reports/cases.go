package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers"
	"github.com/fabriccore/assay/specialists/contract"
)

// differing lists the cases on which some arms are right and some wrong, at
// most n, and how many more there are.
func differing(cases []scorers.CaseRow, n int) (shown []scorers.CaseRow, left int) {
	for _, c := range cases {
		switch {
		case !c.Differs:
		case len(shown) < n:
			shown = append(shown, c)
		default:
			left++
		}
	}
	return shown, left
}

func casesLead(d Document, shown, left int) string {
	if shown == 0 {
		s := "On no listed case is one arm right and another wrong."
		if d.Result.CasesCut > 0 {
			s += fmt.Sprintf(" %d cases were left out of the document.", d.Result.CasesCut)
		}
		return s
	}
	s := fmt.Sprintf("%d cases on which one arm is right and another wrong, with the label, every arm's answer and the evidence.", shown)
	if shown == 1 {
		s = "One case on which one arm is right and another wrong, with the label, every arm's answer and the evidence."
	}
	if left > 0 {
		s += fmt.Sprintf(" %d more stand in document.json.", left)
	}
	if d.Result.CasesCut > 0 {
		s += fmt.Sprintf(" %d cases were left out of the document.", d.Result.CasesCut)
	}
	return s
}

// caseTable sets the label and every arm's answer side by side.
func caseTable(c scorers.CaseRow) table {
	t := table{ID: "case-" + slug(c.Case), Title: c.Case,
		Columns: []column{{Name: "who"}, {Name: "class"}, {Name: "cause", Wrap: true}, {Name: "evidence", Wrap: true}, {Name: "time", Right: true}, {Name: "trial", Wrap: true}}}
	t.Rows = append(t.Rows, []cell{text("label"), text(c.Label), text(c.Cause), text(strings.Join(c.LabelItems, ", ")), text(""), text("")})
	for _, a := range c.Answers {
		class := cell{Main: answerWord(a), Tone: bad}
		if a.Right {
			class.Tone = good
			class.Main += " ✓"
		} else {
			class.Main += " ✗"
		}
		t.Rows = append(t.Rows, []cell{text(a.Arm), class, text(a.Cause), text(strings.Join(a.Evidence, ", ")), {Main: number(a.MS, millis, a.MS) + unit(millis, a.MS)}, text(short(a.Trial))})
	}
	return t
}

func answerWord(a scorers.CaseAnswer) string {
	if a.Class != "" {
		return a.Class
	}
	if a.Kind == journal.Answered {
		return none
	}
	return words(string(a.Kind))
}

// caseFacts says what kind of case it is, in one line.
func caseFacts(c scorers.CaseRow) string {
	var parts []string
	for _, kv := range [][2]string{{"corpus", c.Corpus}, {"family", c.Family}, {"difficulty", c.Difficulty}, {"toolchain", c.Toolchain}} {
		if kv[1] != "" {
			parts = append(parts, kv[0]+" "+kv[1])
		}
	}
	return strings.Join(parts, " · ")
}

// citedMark says that the label names an item and which arms cite it.
func citedMark(c scorers.CaseRow, e contract.EvidenceItem) string {
	var parts []string
	if slices.Contains(c.LabelItems, e.ID) {
		parts = append(parts, "carries the labelled cause")
	}
	var by []string
	for _, a := range c.Answers {
		if slices.Contains(a.Evidence, e.ID) {
			by = append(by, a.Arm)
		}
	}
	if len(by) > 0 {
		parts = append(parts, "cited by "+strings.Join(by, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return " – " + strings.Join(parts, "; ")
}

// short cuts a trial key to what tells trials apart.
func short(key string) string {
	if len(key) > 16 {
		return key[:16]
	}
	return key
}

// confusionTable writes the counts as a table.
func confusionTable(c scorers.Confusion) table {
	t := table{ID: "confusion", Title: "Confusion", Columns: []column{{Name: "label"}}}
	for _, k := range c.Columns {
		t.Columns = append(t.Columns, column{Name: k, Right: true})
	}
	for i, class := range c.Classes {
		row := []cell{text(class)}
		for j := range c.Columns {
			row = append(row, cell{Main: strconv.Itoa(countAt(c, i, j))})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// countAt is a count of the matrix; what is not there is zero.
func countAt(c scorers.Confusion, i, j int) int {
	if i < len(c.Counts) && j < len(c.Counts[i]) {
		return c.Counts[i][j]
	}
	return 0
}
