package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

const (
	gap      = 2  // columns between two table columns
	minWrap  = 14 // a text column is never narrower, if it can be helped
	maxWord  = 24 // a longer word may be broken
	maxCell  = 400
	maxNotes = 6 // lines below one table
)

// table writes a table that fits the width: where room is short, intervals go
// below their points, then text is broken narrower, then columns are left out.
func (p painter) table(t table) error {
	p.title(t.Title)
	if len(t.Rows) == 0 {
		fmt.Fprintf(p, "  %s\n", strings.Join(wrap(t.Empty, p.o.Width-2), "\n  "))
		return nil
	}
	l := fit(t, p.o.Width)
	if err := p.draw(t, l); err != nil {
		return fmt.Errorf("table %s: %w", t.ID, err)
	}
	left := map[string]bool{}
	for i, c := range t.Columns {
		left[c.Name] = !slices.Contains(l.cols, i)
	}
	lines := append(t.figures.list(left), t.Remarks...)
	if len(lines) > maxNotes {
		lines = append(lines[:maxNotes-1], fmt.Sprintf("… and %d more notes in the report", len(lines)-maxNotes+1))
	}
	for _, n := range lines {
		lines := wrap(n, p.o.Width-4)
		fmt.Fprintln(p, p.paint("  "+strings.Join(lines, "\n    "), faint))
	}
	return nil
}

// layout is how a table fits a width.
type layout struct {
	cols  []int // which columns stay
	width []int // of each of them
	stack bool  // Sub goes below Main
}

// fit chooses the layout.
func fit(t table, room int) layout {
	drop := 0
	for _, c := range t.Columns {
		drop = max(drop, c.Drop)
	}
	for ; ; drop-- {
		for _, stack := range []bool{false, true} {
			l := layout{stack: stack}
			for i, c := range t.Columns {
				if c.Drop == 0 || c.Drop <= drop {
					l.cols = append(l.cols, i)
				}
			}
			if l.measure(t, room) || drop <= 0 && stack {
				return l
			}
		}
	}
}

// measure sets the widths and reports whether everything fits well.
func (l *layout) measure(t table, room int) bool {
	l.width = make([]int, len(l.cols))
	natural := make([]int, len(l.cols))
	used := gap * (len(l.cols) - 1)
	for k, i := range l.cols {
		c := t.Columns[i]
		w, n, longest := longestWord(c.Name), 0, minWrap
		for _, r := range t.Rows {
			for _, s := range l.parts(r[i]) {
				n = max(n, twwidth.Width(s))
				longest = max(longest, min(longestWord(s), maxWord))
			}
		}
		natural[k] = max(w, n)
		if c.Wrap {
			l.width[k] = min(natural[k], max(w, longest))
		} else {
			l.width[k] = natural[k]
		}
		used += l.width[k]
	}
	fits := used <= room
	// What is left goes to the text columns, the narrowest first.
	for used < room {
		best := -1
		for k, i := range l.cols {
			if t.Columns[i].Wrap && l.width[k] < natural[k] && (best < 0 || l.width[k] < l.width[best]) {
				best = k
			}
		}
		if best < 0 {
			break
		}
		l.width[best]++
		used++
	}
	// What is too wide even so is taken from the widest columns.
	for used > room {
		best := 0
		for k := range l.width {
			if l.width[k] > l.width[best] {
				best = k
			}
		}
		if l.width[best] <= 4 {
			break
		}
		l.width[best]--
		used--
	}
	return fits && l.height(t) <= 4
}

// height is the number of lines of the table's tallest row.
func (l *layout) height(t table) int {
	h := 0
	for _, r := range t.Rows {
		for k, i := range l.cols {
			n := 0
			for _, s := range l.parts(r[i]) {
				n += len(wrap(cut(s, maxCell), l.width[k]))
			}
			h = max(h, n)
		}
	}
	return h
}

// parts are the lines of a cell before they are broken.
func (l *layout) parts(c cell) []string {
	switch {
	case c.Sub == "":
		return []string{c.Main}
	case l.stack:
		return []string{c.Main, c.Sub}
	}
	return []string{c.Main + " " + c.Sub}
}

func longestWord(s string) int {
	n := 0
	for _, w := range strings.Fields(s) {
		n = max(n, twwidth.Width(w))
	}
	return n
}

// draw lets tablewriter set the rows; every cell is broken beforehand.
func (p painter) draw(t table, l layout) error {
	align := make([]tw.Align, len(l.cols))
	pad := make([]tw.Padding, len(l.cols))
	head := make([]string, len(l.cols))
	for k, i := range l.cols {
		align[k] = tw.AlignLeft
		if t.Columns[i].Right {
			align[k] = tw.AlignRight
		}
		pad[k] = tw.Padding{Left: "", Right: strings.Repeat(" ", gap), Overwrite: true}
		if k == len(l.cols)-1 {
			pad[k].Right = ""
		}
		head[k] = p.paint(strings.Join(wrap(t.Columns[i].Name, l.width[k]), "\n"), "bold")
	}
	section := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{Global: tw.AlignLeft, PerColumn: align},
		Padding:    tw.CellPadding{PerColumn: pad},
	}
	out := &trimmer{w: p}
	tab := tablewriter.NewTable(out,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{
				Separators: tw.Separators{ShowHeader: tw.On, ShowFooter: tw.Off, BetweenRows: tw.Off, BetweenColumns: tw.Off},
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On, ShowFooterLine: tw.Off},
			},
		})),
		tablewriter.WithConfig(tablewriter.Config{Header: section, Row: section, Behavior: tw.Behavior{TrimSpace: tw.Off}}),
	)
	tab.Header(head)
	for _, r := range t.Rows {
		row := make([]string, len(l.cols))
		for k, i := range l.cols {
			var lines []string
			for _, s := range l.parts(r[i]) {
				lines = append(lines, wrap(cut(s, maxCell), l.width[k])...)
			}
			row[k] = p.paint(strings.Join(lines, "\n"), r[i].Tone)
		}
		if err := tab.Append(row); err != nil {
			return err
		}
	}
	if err := tab.Render(); err != nil {
		return err
	}
	return out.flush()
}

// trimmer removes the blanks at the ends of lines.
type trimmer struct {
	w    io.Writer
	line []byte
}

func (t *trimmer) Write(b []byte) (int, error) {
	for _, c := range b {
		if c != '\n' {
			t.line = append(t.line, c)
			continue
		}
		if err := t.flush(); err != nil {
			return 0, err
		}
		if _, err := t.w.Write([]byte{'\n'}); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (t *trimmer) flush() error {
	_, err := io.WriteString(t.w, strings.TrimRight(string(t.line), " "))
	t.line = t.line[:0]
	return err
}
