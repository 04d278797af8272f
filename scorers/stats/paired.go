package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// McNemar is the exact two-sided McNemar p-value for onlyA and onlyB
// discordant pairs; it ignores families, so it is descriptive. Source:
// McNemar, Psychometrika 12 (1947) 153–157, with the binomial distribution.
func McNemar(onlyA, onlyB int) Figure {
	const method = "exact McNemar, two-sided p (descriptive: ignores families)"
	if onlyA < 0 || onlyB < 0 {
		return None(method, "counts out of range")
	}
	n := onlyA + onlyB
	p := 1.0
	if n > 0 {
		b := distuv.Binomial{N: float64(n), P: 0.5}
		p = math.Min(1, 2*b.CDF(float64(min(onlyA, onlyB))))
	}
	return Figure{Point: p, Lo: p, Hi: p, N: n, Method: method}.done()
}

// Tango is the score interval for the difference of paired proportions
// (onlyA − onlyB)/n, two-sided at level; it ignores families, so it is
// descriptive. Source: Tango, Statistics in Medicine 17 (1998) 891–908.
func Tango(onlyA, onlyB, n int, level float64) Figure {
	const method = "Tango score (descriptive: ignores families)"
	switch {
	case n == 0:
		return None(method, "no cases")
	case n < 0 || onlyA < 0 || onlyB < 0 || onlyA+onlyB > n:
		return None(method, "counts out of range")
	case !levelOK(level):
		return None(method, "level out of range")
	}
	b, c, nn := float64(onlyA), float64(onlyB), float64(n)
	point := (b - c) / nn
	crit := z(1 - (1-level)/2)
	score := func(d float64) float64 {
		// q is the restricted estimate of the smaller discordant probability.
		bb := -b - c + (2*nn-b+c)*d
		cc := -c * d * (1 - d)
		q := (math.Sqrt(math.Max(0, bb*bb-8*nn*cc)) - bb) / (4 * nn)
		v := nn * (2*q + d*(1-d))
		if v <= 0 {
			switch {
			case b-c-nn*d > 0:
				return math.Inf(1)
			case b-c-nn*d < 0:
				return math.Inf(-1)
			}
			return 0
		}
		return (b - c - nn*d) / math.Sqrt(v)
	}
	f := Figure{Point: point, Level: level, N: n, Method: method}
	f.Lo = bisect(-1, point, func(d float64) bool { return score(d) > crit })
	f.Hi = bisect(point, 1, func(d float64) bool { return score(d) > -crit })
	return f.done()
}

// bisect finds where a predicate that holds at first stops holding.
func bisect(lo, hi float64, holds func(float64) bool) float64 {
	for range 200 {
		m := lo + (hi-lo)/2
		if m == lo || m == hi {
			break
		}
		if holds(m) {
			lo = m
		} else {
			hi = m
		}
	}
	return lo + (hi-lo)/2
}
