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
	millis                     // milliseconds, as ms or s
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

// interval writes a figure's interval: both ends, or the one end that a
// one-sided method bounds. It is empty where there is none.
func interval(f stats.Figure, q quantity) string {
	if !f.OK() || q == pvalue || f.Level == 0 {
		return ""
	}
	lo, hi := bounded(f, q)
	switch {
	case lo && hi:
		return "[" + number(f.Lo, q, f.Hi) + ", " + number(f.Hi, q, f.Hi) + "]" + tail(q, f.Hi)
	case lo:
		return "≥ " + number(f.Lo, q, f.Lo) + unit(q, f.Lo)
	case hi:
		return "≤ " + number(f.Hi, q, f.Hi) + unit(q, f.Hi)
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
		if math.Abs(scale) >= 1000 {
			return significant(v/1000, 3)
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
		if math.Abs(scale) >= 1000 {
			return " s"
		}
		return " ms"
	case times:
		return "×"
	}
	return ""
}

// tail is the unit after an interval in brackets: only where it could differ
// from the point's.
func tail(q quantity, scale float64) string {
	if q == millis {
		return unit(q, scale)
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
// methods, warnings and the reasons of missing numbers, each said once.
type notes struct {
	order   []string
	methods map[string]*methodNote
	lines   []string // "row, column: …", in order
	missing map[string][]string
	why     []string
}

type methodNote struct {
	columns            []string
	nLo, nHi, cLo, cHi int
}

func (t *notes) add(row, column string, f stats.Figure) {
	if !f.OK() {
		if t.missing == nil {
			t.missing = map[string][]string{}
		}
		if _, ok := t.missing[f.Missing]; !ok {
			t.why = append(t.why, f.Missing)
		}
		t.missing[f.Missing] = append(t.missing[f.Missing], row+" "+column)
		return
	}
	if m := method(f); m != "" {
		if t.methods == nil {
			t.methods = map[string]*methodNote{}
		}
		n, ok := t.methods[m]
		if !ok {
			n = &methodNote{nLo: f.N, nHi: f.N, cLo: f.Clusters, cHi: f.Clusters}
			t.methods[m] = n
			t.order = append(t.order, m)
		}
		n.columns = merge(n.columns, []string{column})
		n.nLo, n.nHi = min(n.nLo, f.N), max(n.nHi, f.N)
		n.cLo, n.cHi = min(n.cLo, f.Clusters), max(n.cHi, f.Clusters)
	}
	for _, w := range f.Warnings {
		t.lines = append(t.lines, row+", "+column+": "+w)
	}
}

// list writes the notes as lines.
func (t *notes) list() []string {
	var out []string
	for _, m := range t.order {
		n := t.methods[m]
		out = append(out, fmt.Sprintf("%s: %s; %s.", capital(strings.Join(n.columns, ", ")), m, units(n.nLo, n.nHi, n.cLo, n.cHi)))
	}
	out = append(out, t.lines...)
	for _, w := range t.why {
		out = append(out, none+" "+strings.Join(t.missing[w], ", ")+": "+w)
	}
	return out
}

func capital(s string) string {
	if s == "" {
		return s
	}
	r := []rune(s)
	return strings.ToUpper(string(r[0])) + string(r[1:])
}
