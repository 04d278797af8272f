package stats

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Quantile is the sample quantile p (type 7 of Hyndman and Fan, American
// Statistician 50 (1996) 361–365) with a two-sided interval between order
// statistics (David and Nagaraja, Order Statistics, §7.1). Where the sample
// is too small for an end, that end is the sample's extreme and a warning
// says so. xs is not changed.
func Quantile(xs []float64, p, level float64) Figure {
	const method = "type 7 quantile, order-statistic interval"
	switch {
	case len(xs) == 0:
		return None(method, "no values")
	case !finite(xs...):
		return None(method, "a value is not a finite number")
	case !(p >= 0 && p <= 1) || !levelOK(level):
		return None(method, "probability out of range")
	}
	s := slices.Clone(xs)
	slices.Sort(s)
	n := len(s)
	f := Figure{Point: type7(s, p), Level: level, N: n, Method: method}
	b := distuv.Binomial{N: float64(n), P: p}
	a := (1 - level) / 2
	cdf := func(k int) float64 { // P(X ≤ k)
		switch {
		case k < 0:
			return 0
		case k >= n, p == 0:
			return 1
		case p == 1:
			return 0
		}
		return b.CDF(float64(k))
	}
	// lo is the largest rank l (1-based) with P(X ≤ l−1) ≤ a.
	lo := sort.Search(n, func(i int) bool { return cdf(i) > a })
	// hi is the smallest rank u with P(X ≤ u−1) ≥ 1−a.
	hi := sort.Search(n, func(i int) bool { return cdf(i) >= 1-a }) + 1
	if lo < 1 {
		lo = 1
		f = f.Warn("n = %d is too small for a lower end at this level: the smallest value stands for it", n)
	}
	if hi > n {
		hi = n
		f = f.Warn("n = %d is too small for an upper end at this level: the largest value stands for it", n)
	}
	f.Lo, f.Hi = math.Min(s[lo-1], f.Point), math.Max(s[hi-1], f.Point)
	return f.done()
}

// type7 is the type 7 quantile of sorted, non-empty s.
func type7(s []float64, p float64) float64 {
	h := float64(len(s)-1) * p
	i := int(math.Floor(h))
	if i >= len(s)-1 {
		return s[len(s)-1]
	}
	return s[i] + (h-float64(i))*(s[i+1]-s[i])
}

// Median is the type 7 median of xs; ok is false when xs is empty or holds a
// value that is not finite.
func Median(xs []float64) (m float64, ok bool) {
	if len(xs) == 0 || !finite(xs...) {
		return 0, false
	}
	s := slices.Clone(xs)
	slices.Sort(s)
	return type7(s, 0.5), true
}
