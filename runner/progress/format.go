package progress

import (
	"fmt"
	"strings"
	"time"
)

// percent is floored, so that 100 means finished; ok is false where the total
// is not known.
func (v view) percent() (p int64, ok bool) {
	if v.total <= 0 {
		return 0, false
	}
	return min(100, v.count*100/v.total), true
}

// left estimates the remaining time; ok is false where nothing supports an
// estimate yet.
func (v view) left() (d time.Duration, ok bool) {
	switch {
	case v.total <= 0 || v.count >= v.total:
		return 0, false
	case v.unit == Seconds:
		left := time.Duration(v.total)*time.Second - v.elapsed
		return left, left >= time.Second
	case v.count <= 0 || v.unit == Steps:
		return 0, false
	}
	perUnit := float64(v.elapsed) / float64(v.count)
	return time.Duration(perUnit * float64(v.total-v.count)), true
}

// amount is what was done of what is planned, empty for estimates.
func (v view) amount() string {
	switch v.unit {
	case Seconds:
		return ""
	case Bytes:
		if v.total > 0 {
			done, all := size(v.count), size(v.total)
			// One unit is enough where both have the same.
			number, unit, _ := strings.Cut(done, " ")
			if strings.HasSuffix(all, " "+unit) {
				done = number
			}
			return done + "/" + all
		}
		return size(v.count)
	default:
		if v.total > 0 {
			return fmt.Sprintf("%d/%d", v.count, v.total)
		}
		return fmt.Sprint(v.count)
	}
}

// outcome is amount for a finished task: nothing where nothing was counted.
func (v view) outcome() string {
	if v.unit == Steps || v.count == 0 {
		return ""
	}
	return v.amount()
}

// rate is the mean rate since the start; empty in the first half second and
// for units without one.
func (v view) rate() string {
	seconds := v.elapsed.Seconds()
	if v.count <= 0 || seconds < 0.5 {
		return ""
	}
	perSecond := float64(v.count) / seconds
	switch {
	case v.unit == Bytes:
		return size(int64(perSecond)) + "/s"
	case v.unit != Items:
		return ""
	case perSecond >= 100:
		return fmt.Sprintf("%.0f/s", perSecond)
	case perSecond >= 1:
		return fmt.Sprintf("%.1f/s", perSecond)
	default:
		return fmt.Sprintf("%.1f/min", perSecond*60)
	}
}

// figures joins remaining time, amount and rate, the most wanted first, since
// the end is what a narrow terminal cuts.
func (v view) figures() string {
	var parts []string
	if d, ok := v.left(); ok {
		parts = append(parts, span(d)+" left")
	} else if v.unit == Seconds && v.total > 0 && v.elapsed >= time.Duration(v.total)*time.Second {
		parts = append(parts, "longer than the estimate")
	} else if v.total <= 0 {
		parts = append(parts, span(v.elapsed))
	}
	for _, part := range []string{v.amount(), v.rate()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// size renders bytes in decimal units with three significant digits or so.
func size(n int64) string {
	const k = 1000
	if n < k {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/k, 0
	for value >= 999.95 && unit < 4 {
		value /= k
		unit++
	}
	return fmt.Sprintf("%.1f %cB", value, "kMGTP"[unit])
}

// span renders a duration the way a person says it: 8s, 2m05s, 1h04m.
func span(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
}

// cut shortens text to at most width runes and takes line breaks out of it.
func cut(text string, width int) string {
	text = strings.NewReplacer("\r", "", "\n", " ", "\t", " ").Replace(text)
	runes := []rune(text)
	switch {
	case width <= 0:
		return ""
	case len(runes) <= width:
		return text
	case width == 1:
		return "…"
	default:
		return string(runes[:width-1]) + "…"
	}
}
