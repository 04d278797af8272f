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
// width: what is too wide is wrapped, the widest columns first. Cells are made
// harmless.
func (st *state) table(header []string, rows [][]string) error {
	clean := make([][]string, len(rows))
	for i, r := range rows {
		clean[i] = make([]string, len(r))
		for k, c := range r {
			clean[i][k] = oneLine(c)
		}
	}
	rows = clean
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
	// Columns give up width down to their longest word, the widest first; only
	// then are words broken.
	for _, least := range [][]int{words(header, rows), nil} {
		for used > room {
			widest := -1
			if n := len(width) - 1; least == nil && width[n] > minColumn {
				widest = n // prose stands last: it is broken before names are
			}
			for i := range width {
				if widest == len(width)-1 {
					break
				}
				if least != nil && width[i] <= least[i] || width[i] <= minColumn {
					continue
				}
				if widest < 0 || width[i] > width[widest] {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			width[widest]--
			used--
		}
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

// maxWord bounds, in columns, the words that are not broken.
const maxWord = 28

// words is each column's width at which its longest word still fits.
func words(header []string, rows [][]string) []int {
	out := make([]int, len(header))
	for i := range header {
		cells := []string{header[i]}
		for _, r := range rows {
			if i < len(r) {
				cells = append(cells, r[i])
			}
		}
		for _, c := range cells {
			for _, w := range strings.Fields(c) {
				if n := twwidth.Width(w); n <= maxWord || i == 0 {
					out[i] = max(out[i], n)
				}
			}
		}
		out[i] += 2
	}
	return out
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
