package main

import (
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// minColumn is the least width, in columns of the terminal, that a table's
// column is narrowed to.
const minColumn = 10

// table prints rows below a header, without lines, within the terminal's
// width: what is too wide is wrapped, the widest columns first.
func (st *state) table(header []string, rows [][]string) error {
	width := make([]int, len(header))
	used := 0
	for i := range header {
		width[i] = twwidth.Width(header[i])
		for _, r := range rows {
			if i < len(r) {
				width[i] = max(width[i], twwidth.Width(r[i]))
			}
		}
		width[i] += 2 // a space on each side
		used += width[i]
	}
	room := st.Width
	if room <= 0 {
		room = 80
	}
	for used > room {
		// The first column names the row and is copied from: it is narrowed
		// only where it takes more than half of the room.
		widest := 0
		for i := range width {
			if width[i] > width[widest] || widest == 0 && width[0] <= room/2 {
				widest = i
			}
		}
		if width[widest] <= minColumn {
			break
		}
		width[widest]--
		used--
	}
	fitted := make([][]string, len(rows))
	for i, r := range rows {
		fitted[i] = make([]string, len(r))
		for k, c := range r {
			fitted[i][k] = fold(c, width[k]-2)
		}
	}
	left := tw.CellConfig{Alignment: tw.CellAlignment{Global: tw.AlignLeft}, Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off}}
	t := tablewriter.NewTable(st.Stdout,
		tablewriter.WithConfig(tablewriter.Config{Header: left, Row: left}),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone},
		})))
	t.Header(header)
	if err := t.Bulk(fitted); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	return t.Render()
}

// fold breaks text into lines of at most width columns, at spaces where it
// can and inside a word where it must.
func fold(text string, width int) string {
	var out, line strings.Builder
	at := 0
	flush := func() {
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(line.String())
		line.Reset()
		at = 0
	}
	for _, w := range strings.Fields(text) {
		if n := twwidth.Width(w); at > 0 && at+1+n > width {
			flush()
		} else if at > 0 {
			line.WriteByte(' ')
			at++
		}
		for _, r := range w {
			n := twwidth.Width(string(r))
			if at > 0 && at+n > width {
				flush()
			}
			line.WriteRune(r)
			at += n
		}
	}
	flush()
	return out.String()
}
