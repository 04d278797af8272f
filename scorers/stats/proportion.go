package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// z is the standard normal quantile.
func z(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// badCounts says why k of n can't be a proportion, or "".
func badCounts(k, n int, level float64) string {
	switch {
	case n == 0:
		return "no cases"
	case n < 0 || k < 0 || k > n:
		return "counts out of range"
	case !levelOK(level):
		return "level out of range"
	}
	return ""
}

// Wilson is the two-sided Wilson score interval for k successes of n.
// Source: Wilson, JASA 22 (1927) 209–212.
func Wilson(k, n int, level float64) Figure {
	const method = "Wilson"
	if why := badCounts(k, n, level); why != "" {
		return None(method, "%s", why)
	}
	c := z(1 - (1-level)/2)
	nn, p := float64(n), float64(k)/float64(n)
	den := 1 + c*c/nn
	mid := (p + c*c/(2*nn)) / den
	half := c / den * math.Sqrt(p*(1-p)/nn+c*c/(4*nn*nn))
	f := Figure{Point: p, Lo: mid - half, Hi: mid + half, Level: level, N: n, Method: method}
	if k == 0 {
		f.Lo = 0
	}
	if k == n {
		f.Hi = 1
	}
	return f.done()
}

// ClopperPearson is the exact interval for k successes of n, its coverage
// never below level. Source: Clopper and Pearson, Biometrika 26 (1934)
// 404–413, by the beta distribution's quantiles.
func ClopperPearson(k, n int, level float64) Figure {
	const method = "Clopper–Pearson"
	if why := badCounts(k, n, level); why != "" {
		return None(method, "%s", why)
	}
	a := (1 - level) / 2
	f := Figure{Point: float64(k) / float64(n), Lo: cpLower(k, n, a), Hi: cpUpper(k, n, a), Level: level, N: n, Method: method}
	return f.done()
}

// ClopperPearsonOneSided has each end as an exact one-sided bound at level.
func ClopperPearsonOneSided(k, n int, level float64) Figure {
	const method = "Clopper–Pearson, each end one-sided"
	if why := badCounts(k, n, level); why != "" {
		return None(method, "%s", why)
	}
	a := 1 - level
	f := Figure{Point: float64(k) / float64(n), Lo: cpLower(k, n, a), Hi: cpUpper(k, n, a), Level: level, N: n, Method: method}
	return f.done()
}

func cpLower(k, n int, a float64) float64 {
	if k == 0 {
		return 0
	}
	return distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(a)
}

func cpUpper(k, n int, a float64) float64 {
	if k == n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - a)
}
