// Package stats owns figures and the methods behind them: intervals, paired
// and clustered tests, power, agreement. It refuses to know what it measures.
package stats

import (
	"fmt"
	"math"
	"strconv"
)

// Figure is a number that may be shown: a point estimate with its interval.
// There is no bare float in a report. Floats are rounded to 12 significant
// digits by [Round] before a figure leaves this package.
type Figure struct {
	Point float64 `json:"point"`
	// Lo and Hi bound the interval at Level (e.g. 0.95). Method says whether
	// Level holds for the interval or for each end as a one-sided bound.
	Lo       float64  `json:"lo"`
	Hi       float64  `json:"hi"`
	Level    float64  `json:"level"`
	N        int      `json:"n"`        // independent units used (cases)
	Clusters int      `json:"clusters"` // families; 0 = not clustered
	Method   string   `json:"method"`
	Unit     string   `json:"unit,omitempty"` // "", "ms", "×"
	Warnings []string `json:"warnings,omitempty"`
	// Missing says why there is no number; the other numbers are then zero
	// and must not be shown or gated on.
	Missing string `json:"missing,omitempty"`
}

// OK reports whether the figure carries a number.
func (f Figure) OK() bool { return f.Missing == "" }

// Warn returns the figure with one more warning.
func (f Figure) Warn(format string, args ...any) Figure {
	w := make([]string, 0, len(f.Warnings)+1)
	w = append(w, f.Warnings...)
	f.Warnings = append(w, fmt.Sprintf(format, args...))
	return f
}

// None is a figure without a number; why says what is missing.
func None(method, format string, args ...any) Figure {
	return Figure{Method: method, Missing: fmt.Sprintf(format, args...)}
}

// Digits is the number of significant decimal digits that a figure keeps.
const Digits = 12

// Round rounds x to 12 significant decimal digits; −0 becomes 0. NaN and the
// infinities come back as they are: callers turn them into a missing figure.
func Round(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x + 0 // −0 + 0 = 0
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', Digits-1, 64), 64)
	if err != nil {
		return x
	}
	return r
}

// done rounds a finished figure, and turns it into a missing one if any of
// its numbers is not finite.
func (f Figure) done() Figure {
	for _, x := range []float64{f.Point, f.Lo, f.Hi, f.Level} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			m := None(f.Method, "not a finite number")
			m.Warnings, m.Unit = f.Warnings, f.Unit
			return m
		}
	}
	f.Point, f.Lo, f.Hi, f.Level = Round(f.Point), Round(f.Lo), Round(f.Hi), Round(f.Level)
	return f
}

// In returns the figure with its unit set and its numbers multiplied by
// scale, e.g. In("ms", 1e-6) for nanoseconds.
func (f Figure) In(unit string, scale float64) Figure {
	f.Unit = unit
	if f.OK() {
		f.Point, f.Lo, f.Hi = f.Point*scale, f.Lo*scale, f.Hi*scale
	}
	return f.done()
}

// finite reports whether every value is a finite number.
func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// levelOK reports whether level lies strictly between 0 and 1.
func levelOK(level float64) bool { return level > 0 && level < 1 }
