package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fabriccore/assay/scorers/stats"
)

// quantity says how the numbers of a figure are written.
type quantity int

const (
	share      quantity = iota // 0..1, as per cent
	difference                 // −1..1, as percentage points
	millis                     // milliseconds, as µs, ms or s
	times                      // a ratio, as ×
	pvalue                     // 0..1, as it is
	raw                        // the number itself, where only its unit is known
)

// none stands where there is no number.
const none = "–"

// point writes a figure's point estimate, or "–".
func point(f stats.Figure, q quantity) string {
	if !f.OK() {
		return none
	}
	if q == pvalue {
		return number(f.Point, q, f.Point)
	}
	return number(f.Point, q, f.Point) + unit(q, f.Point)
}

// interval writes a figure's interval in the point's unit: both ends, or the one end that a
// one-sided method bounds. It is empty where there is none.
func interval(f stats.Figure, q quantity) string {
	if !f.OK() || q == pvalue || f.Level == 0 {
		return ""
	}
	lo, hi := bounded(f, q)
	switch {
	case lo && hi:
		return "[" + number(f.Lo, q, f.Point) + ", " + number(f.Hi, q, f.Point) + "]"
	case lo:
		return "≥ " + number(f.Lo, q, f.Point) + unit(q, f.Point)
	case hi:
		return "≤ " + number(f.Hi, q, f.Point) + unit(q, f.Point)
	}
	return "[unbounded]"
}

// bounded says which ends of a figure's interval say something.
func bounded(f stats.Figure, q quantity) (lo, hi bool) {
	lo, hi = f.Lo > -unbounded, f.Hi < unbounded
	if q == raw || !strings.Contains(f.Method, "one-sided") {
		return lo, hi
	}
	switch q {
	case share:
		return lo && f.Lo > 0 || f.Hi >= 1, hi && f.Hi < 1
	case difference:
		return lo && f.Lo > -1, hi && f.Hi < 1
	default:
		return lo && f.Lo > 0, hi
	}
}

// number writes v; in the unit that scale (the larger of its companions) has.
func number(v float64, q quantity, scale float64) string {
	switch q {
	case share:
		return trimSign(strconv.FormatFloat(100*v, 'f', 1, 64))
	case difference:
		return signed(100*v, 1)
	case millis:
		switch s := math.Abs(scale); {
		case s >= 1000:
			return significant(v/1000, 3)
		case s < 1 && s > 0:
			return significant(v*1000, 3)
		}
		return significant(v, 3)
	case times:
		return significant(v, 3)
	case raw:
		return significant(v, 4)
	}
	if v < 0.001 {
		return "< 0.001"
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

func unit(q quantity, scale float64) string {
	switch q {
	case share:
		return " %"
	case difference:
		return " pp"
	case millis:
		switch s := math.Abs(scale); {
		case s >= 1000:
			return " s"
		case s < 1 && s > 0:
			return " µs"
		}
		return " ms"
	case times:
		return "×"
	}
	return ""
}

// significant writes n significant digits without an exponent.
func significant(v float64, n int) string {
	if v == 0 {
		return "0"
	}
	decimals := max(0, n-1-int(math.Floor(math.Log10(math.Abs(v)))))
	return strconv.FormatFloat(v, 'f', min(decimals, 4), 64)
}

func signed(v float64, decimals int) string {
	s := trimSign(strconv.FormatFloat(v, 'f', decimals, 64))
	if strings.HasPrefix(s, "-") {
		return "−" + s[1:]
	}
	return "+" + s
}

// trimSign turns a negative zero into a zero.
func trimSign(s string) string {
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

// full writes a figure with all that belongs to it, in one line.
func full(f stats.Figure, q quantity) string {
	if !f.OK() {
		return none + " (" + f.Missing + ")"
	}
	s := point(f, q)
	if q == raw {
		s += f.Unit
	}
	if iv := interval(f, q); iv != "" {
		s += " " + iv
	}
	s += ", " + units(f.N, f.N, f.Clusters, f.Clusters)
	if m := method(f); m != "" {
		s += ", " + m
	}
	if len(f.Warnings) > 0 {
		s += "; " + strings.Join(f.Warnings, "; ")
	}
	return s
}

// method names a figure's method and level.
func method(f stats.Figure) string {
	m := f.Method
	if f.Level > 0 && f.Level < 1 {
		level := strconv.FormatFloat(100*f.Level, 'f', -1, 64)
		if !strings.Contains(m, level+" %") && !strings.Contains(m, level+"%") {
			m = strings.TrimPrefix(m+", "+level+" %", ", ")
		}
	}
	return m
}

// units writes how many cases, and in how many families, figures rest on.
func units(nLo, nHi, cLo, cHi int) string {
	span := func(lo, hi int) string {
		if lo == hi {
			return strconv.Itoa(lo)
		}
		return fmt.Sprintf("%d–%d", lo, hi)
	}
	s := "n = " + span(nLo, nHi)
	if cHi > 0 {
		s += " in " + span(cLo, cHi) + " families"
	}
	return s
}

// notes gathers what belongs to a table's figures but not into its cells:
// methods, warnings and the reasons of missing numbers.
type notes []note

type note struct {
	row, column string
	f           stats.Figure
}

func (t *notes) add(row, column string, f stats.Figure) {
	*t = append(*t, note{row, column, f})
}

// list writes the notes as lines: each method, warning and reason once, without
// the columns in left, which a narrow page does not show.
func (t notes) list(left map[string]bool) []string {
	type group struct {
		what               []note
		nLo, nHi, cLo, cHi int
	}
	groups := map[string]*group{}
	var methods, warnings, reasons []string
	put := func(order *[]string, kind, key string, x note) *group {
		g := groups[kind+key]
		if g == nil {
			g = &group{nLo: x.f.N, nHi: x.f.N, cLo: x.f.Clusters, cHi: x.f.Clusters}
			groups[kind+key] = g
			*order = append(*order, key)
		}
		g.what = append(g.what, x)
		g.nLo, g.nHi = min(g.nLo, x.f.N), max(g.nHi, x.f.N)
		g.cLo, g.cHi = min(g.cLo, x.f.Clusters), max(g.cHi, x.f.Clusters)
		return g
	}
	for _, x := range t {
		switch {
		case left[x.column]:
			continue
		case !x.f.OK():
			put(&reasons, "r", x.f.Missing, x)
			continue
		}
		if m := method(x.f); m != "" {
			put(&methods, "m", m, x)
		}
		for _, w := range x.f.Warnings {
			put(&warnings, "w", w, x)
		}
	}
	var out []string
	for _, m := range methods {
		g := groups["m"+m]
		var columns []string
		for _, x := range g.what {
			columns = merge(columns, []string{x.column})
		}
		out = append(out, fmt.Sprintf("%s: %s; %s.", capital(strings.Join(columns, ", ")), m, units(g.nLo, g.nHi, g.cLo, g.cHi)))
	}
	for _, w := range warnings {
		out = append(out, capital(t.where(groups["w"+w].what))+": "+w+".")
	}
	for _, why := range reasons {
		out = append(out, none+" means "+why+" ("+t.where(groups["r"+why].what)+").")
	}
	return out
}

// where names the places of some of the notes: a column alone if all of its
// rows are among them, else the rows by column.
func (t notes) where(some []note) string {
	var columns, out []string
	all, rows := map[string]int{}, map[string][]string{}
	for _, x := range t {
		all[x.column]++
	}
	for _, x := range some {
		columns = merge(columns, []string{x.column})
		rows[x.column] = append(rows[x.column], x.row)
	}
	for _, c := range columns {
		if len(rows[c]) == all[c] {
			out = append(out, c)
		} else {
			out = append(out, c+" of "+strings.Join(rows[c], ", "))
		}
	}
	return strings.Join(out, "; ")
}

func capital(s string) string {
	if s == "" {
		return s
	}
	r := []rune(s)
	return strings.ToUpper(string(r[0])) + string(r[1:])
}
