package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// PowerDesign describes a paired comparison before it is run.
type PowerDesign struct {
	Cases    int
	Families int
	// Effect is the difference in accuracy to be detected (0..1) and
	// Discordant the share of cases on which exactly one arm is right.
	Effect     float64
	Discordant float64
	// ICC is the correlation of differences within a family (0..1).
	ICC   float64
	Alpha float64 // one-sided
}

// PairedPower is the probability (0..1) that the one-sided gate on a paired
// difference passes when Effect is real: a t approximation with the design
// effect 1+(m−1)·ICC for m cases a family. Sources: Connor, Biometrics 43
// (1987) 207–211 for paired proportions; Kish, Survey Sampling (1965) for the
// design effect.
func PairedPower(d PowerDesign) Figure {
	const method = "power of a one-sided paired test, t approximation with design effect"
	switch {
	case d.Cases <= 0 || d.Families <= 0 || d.Families > d.Cases:
		return None(method, "no cases or families out of range")
	case d.Families < 2:
		return None(method, "1 family: no test")
	case !finite(d.Effect, d.Discordant, d.ICC) || !levelOK(d.Alpha):
		return None(method, "a parameter is out of range")
	case d.Discordant < math.Abs(d.Effect) || d.Discordant > 1 || d.ICC < 0 || d.ICC > 1:
		return None(method, "a parameter is out of range")
	}
	m := float64(d.Cases) / float64(d.Families)
	v := (d.Discordant - d.Effect*d.Effect) * (1 + (m-1)*d.ICC) / float64(d.Cases)
	p := powerAt(d.Effect, math.Sqrt(v), d.Families, d.Alpha)
	return Figure{Point: p, Lo: p, Hi: p, Level: 1 - d.Alpha, N: d.Cases, Clusters: d.Families, Method: method}.done()
}

// ObservedPower is the power to detect effect with the precision that the
// clusters turned out to have: it uses their spread and never their mean.
func ObservedPower(cs []Cluster, effect, alpha float64) Figure {
	const method = "power for the declared effect at the observed cluster-robust standard error"
	sorted, n, why := prepared(cs, Options{Level: 1 - alpha})
	switch {
	case why != "":
		return None(method, "%s", why)
	case len(sorted) < 2:
		return None(method, "1 family: no test")
	case !(effect > 0) || !finite(effect):
		return None(method, "no effect declared")
	}
	p := powerAt(effect, stdErr(sorted), len(sorted), alpha)
	return Figure{Point: p, Lo: p, Hi: p, Level: 1 - alpha, N: n, Clusters: len(sorted), Method: method}.done()
}

// powerAt shifts Student's t with clusters−1 degrees of freedom.
func powerAt(effect, se float64, clusters int, alpha float64) float64 {
	if se == 0 {
		if effect > 0 {
			return 1
		}
		return alpha
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(clusters - 1)}
	return 1 - t.CDF(t.Quantile(1-alpha)-effect/se)
}
