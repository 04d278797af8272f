// Package stats owns figures and the methods behind them: intervals, paired
// and clustered tests, power, agreement. It refuses to know what it measures.
package stats

// Figure is a number that may be shown: a point estimate with its interval.
// There is no bare float in a report. Floats are rounded to 12 significant
// digits when a document is written.
type Figure struct {
	Point float64 `json:"point"`
	// Lo and Hi bound the interval at Level (e.g. 0.95). A one-sided bound
	// leaves the other end at its trivial limit and says so in Method.
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
