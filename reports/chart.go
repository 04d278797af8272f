package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/fabriccore/assay/scorers/stats"
)

// chart is a dot-and-interval plot: one row an arm, one axis. Positions along
// the axis are per cent of the plot's width, so that it fits any page; heights
// are pixels.
type chart struct {
	ID, Title, Desc string
	Height          int
	AxisY           int
	Ticks           []tick
	Rows            []strip
}

type tick struct {
	X     string
	Label string
	Align string // SVG text-anchor
}

// strip is one arm's row.
type strip struct {
	Label, Value  string
	LabelY, DotsY int
	Marks         []mark
	Missing       string
}

// mark is one figure: a dot with its interval.
type mark struct {
	Lo, Mid, Hi string
	Hollow      bool
	Says        string
}

const (
	stripHeight = 48
	topMargin   = 6
	axisHeight  = 28
)

// accuracyChart plots accuracy on 0..100 %.
func accuracyChart(d Document) chart {
	c := chart{ID: "plot-accuracy", Title: "Accuracy by arm",
		Desc: "One row an arm: the dot is the share of cases answered right, the line its interval, on an axis from 0 to 100 per cent. The table below holds the same numbers."}
	at := func(v float64) string { return percent(v) }
	for v := 0; v <= 100; v += 20 {
		c.Ticks = append(c.Ticks, tick{X: percent(float64(v) / 100), Label: strconv.Itoa(v) + " %", Align: anchor(v, 0, 100)})
	}
	for _, a := range d.Result.Arms {
		s := strip{Label: cut(a.Arm, maxLabel)}
		s.add(a.Accuracy, share, at, false, "accuracy")
		if a.Accuracy.OK() {
			s.Value = right(a) + " · " + s.Value
		}
		c.Rows = append(c.Rows, s)
	}
	return c.place()
}

// latencyChart plots p50 and p95 of whole trials on a log scale.
func latencyChart(d Document) chart {
	c := chart{ID: "plot-latency", Title: "Latency by arm",
		Desc: "One row an arm: the filled dot is the median, the hollow dot the 95th percentile, the lines their intervals, on a logarithmic axis. The table below holds the same numbers."}
	lo, hi := math.Inf(1), math.Inf(-1)
	see := func(v float64) {
		if v > 0 && v < unbounded {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	for _, l := range d.Result.Latency {
		for _, f := range []stats.Figure{l.P50, l.P95} {
			if l.Profile == "" && f.OK() {
				see(f.Point)
				see(f.Lo)
				see(f.Hi)
			}
		}
	}
	if hi < lo {
		return c
	}
	ticks := logTicks(lo, hi)
	lo, hi = ticks[0], ticks[len(ticks)-1]
	at := func(v float64) string {
		return percent((math.Log(min(max(v, lo), hi)) - math.Log(lo)) / (math.Log(hi) - math.Log(lo)))
	}
	for i, v := range thin(ticks) {
		c.Ticks = append(c.Ticks, tick{X: at(v), Label: tickLabel(v), Align: anchor(i, 0, len(thin(ticks))-1)})
	}
	for _, l := range d.Result.Latency {
		if l.Profile != "" {
			continue
		}
		s := strip{Label: cut(l.Arm, maxLabel)}
		s.add(l.P50, millis, at, false, "p50")
		s.add(l.P95, millis, at, true, "p95")
		c.Rows = append(c.Rows, s)
	}
	return c.place()
}

const maxLabel = 44

func (s *strip) add(f stats.Figure, q quantity, at func(float64) string, hollow bool, name string) {
	if !f.OK() || q == millis && f.Point <= 0 {
		s.Missing = orElse(f.Missing, "no time was taken")
		return
	}
	s.Marks = append(s.Marks, mark{Lo: at(f.Lo), Mid: at(f.Point), Hi: at(f.Hi), Hollow: hollow, Says: s.Label + ", " + name + ": " + full(f, q)})
	v := point(f, q)
	if iv := interval(f, q); iv != "" {
		v += " " + iv
	}
	if s.Value != "" {
		s.Value += " · "
	}
	if q == millis {
		v = name + " " + v
	}
	s.Value += v
}

// place sets the heights once all rows are known.
func (c chart) place() chart {
	for i := range c.Rows {
		y := topMargin + i*stripHeight
		c.Rows[i].LabelY = y + 12
		c.Rows[i].DotsY = y + 28
	}
	c.AxisY = topMargin + len(c.Rows)*stripHeight
	c.Height = c.AxisY + axisHeight
	return c
}

// percent writes a share of the width.
func percent(v float64) string {
	return strconv.FormatFloat(100*min(max(v, 0), 1), 'f', 2, 64) + "%"
}

func anchor(i, first, last int) string {
	switch i {
	case first:
		return "start"
	case last:
		return "end"
	}
	return "middle"
}

// logTicks are 1, 2, 5 × powers of ten around lo..hi, at least two.
func logTicks(lo, hi float64) []float64 {
	var out []float64
	for e := math.Floor(math.Log10(lo)); ; e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if v <= lo {
				out = []float64{v}
				continue
			}
			out = append(out, v)
			if v >= hi && len(out) > 1 {
				return out
			}
		}
	}
}

func tickLabel(v float64) string {
	if v >= 1000 {
		v /= 1000
		return strconv.FormatFloat(v, 'f', -1, 64) + " s"
	}
	if v < 1 {
		return strconv.FormatFloat(round(v*1000), 'f', -1, 64) + " µs"
	}
	return strconv.FormatFloat(round(v), 'f', -1, 64) + " ms"
}

// thin keeps at most seven ticks, the ends always.
func thin(ticks []float64) []float64 {
	step := (len(ticks) + 5) / 6
	if step <= 1 {
		return ticks
	}
	var out []float64
	for i := 0; i < len(ticks)-1; i += step {
		out = append(out, ticks[i])
	}
	// A tick too close to the last one would be written over it.
	if len(out) > 1 && len(ticks)-1-slices.Index(ticks, out[len(out)-1]) < (step+1)/2 {
		out = out[:len(out)-1]
	}
	return append(out, ticks[len(ticks)-1])
}

// Summary is the chart in words, for those who can't see it.
func (c chart) Summary() string {
	s := c.Desc
	for _, r := range c.Rows {
		if len(r.Marks) == 0 {
			s += fmt.Sprintf(" %s: no number (%s).", r.Label, r.Missing)
			continue
		}
		s += fmt.Sprintf(" %s: %s.", r.Label, r.Value)
	}
	return s
}
