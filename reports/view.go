package reports

import (
	"strconv"

	"github.com/fabriccore/assay/scorers"
	"github.com/fabriccore/assay/scorers/stats"
)

// tone is what a cell's colour says; the text says it as well.
type tone string

const (
	plain tone = ""
	good  tone = "good"
	bad   tone = "bad"
	warn  tone = "warn" // open, inconclusive, not measured
	faint tone = "faint"
)

// cell is one cell of a table. Sub belongs to Main and stands behind it, or
// below it where room is short: an interval, a detail.
type cell struct {
	Main, Sub string
	Tone      tone
}

// column heads a table's column.
type column struct {
	Name  string
	Right bool // numbers
	Wrap  bool // running text that may be broken over lines
	// Drop is the order in which a narrow page leaves columns out, highest
	// first; 0 = never.
	Drop int
}

// table is a table before any format. Every renderer shows the same ones.
type table struct {
	ID, Title string
	Lead      string // one sentence above it
	Columns   []column
	Rows      [][]cell
	figures   notes
	Remarks   []string // more lines below it
	Empty     string   // what to say instead when there are no rows
}

// Notes are the lines below the table that belong to its figures.
func (t table) Notes() []string { return append(t.figures.list(nil), t.Remarks...) }

// count writes the n of a figure.
func count(f stats.Figure) cell {
	if !f.OK() {
		return cell{Main: none, Tone: faint}
	}
	return cell{Main: strconv.Itoa(f.N)}
}

func text(s string) cell { return cell{Main: orDash(s)} }

// fig makes a cell of a figure and notes the rest of it.
func fig(n *notes, row, column string, f stats.Figure, q quantity) cell {
	n.add(row, column, f)
	if !f.OK() {
		return cell{Main: none, Tone: faint}
	}
	return cell{Main: point(f, q), Sub: interval(f, q)}
}

// exact is fig for a share without an interval.
func exact(n *notes, row, column string, f stats.Figure) cell {
	c := fig(n, row, column, f, share)
	c.Sub = ""
	return c
}

// figOf is fig for a share whose n is the row's own and not the table's.
func figOf(n *notes, row, column string, f stats.Figure) cell {
	c := fig(n, row, column, f, share)
	if f.OK() {
		c.Main += " of " + strconv.Itoa(f.N)
	}
	return c
}

// verdictTone colours a verdict.
func verdictTone(v scorers.Verdict) tone {
	switch v {
	case scorers.Qualified:
		return good
	case scorers.Inconclusive:
		return warn
	}
	return bad
}

func stateTone(s State) tone {
	switch s {
	case Holds:
		return good
	case Fails:
		return bad
	case OutOfPhase:
		return faint
	}
	return warn
}

// gateWord is a gate's verdict as a reader sees it: an open row is never any
// other thing.
func gateWord(g scorers.Gate) (string, tone) {
	switch {
	case g.Open:
		return "open", warn
	case g.Verdict == scorers.Qualified:
		return "passed", good
	case g.Verdict == scorers.NotQualified:
		return "not met", bad
	case g.Verdict == "":
		return "no verdict", warn
	}
	return words(string(g.Verdict)), verdictTone(g.Verdict)
}
