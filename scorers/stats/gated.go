package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

func normCDF(x float64) float64 { return distuv.UnitNormal.CDF(x) }

// FewClusters is the number of clusters below which a gated figure uses the
// sign-flip bound alone; TestCalibration measures why.
const FewClusters = 30

// MeanDifference is the gated figure for a paired difference: the mean over
// cases, each end a one-sided bound by family-level methods. Below
// [FewClusters] clusters it is the sign-flip bound, since the bootstrap
// undercovers there; above, the wider of sign-flip and cluster bootstrap.
//
// Limit: no method that only looks at the sample guards against a rare kind
// of family with a large loss that the sample does not hold. If one family in
// ten loses 0.9 and the others gain 0.1, 28 % of samples of 12 families hold
// no such family (0.9^12) and pass.
func MeanDifference(cs []Cluster, o Options) Figure {
	o = o.filled(len(cs))
	f := SignFlipBound(cs, o)
	if !f.OK() {
		return f
	}
	if f.Clusters < FewClusters {
		return f.Warn("%s: the bootstrap undercovers; sign-flip bound used", families(f.Clusters))
	}
	b := Bootstrap(cs, o)
	if !b.OK() {
		return f.Warn("no bootstrap: %s; sign-flip bound used", b.Missing)
	}
	f.Lo, f.Hi = math.Min(f.Lo, b.Lo), math.Max(f.Hi, b.Hi)
	f.Method = "wider of sign-flip and cluster bootstrap (BCa) over families, each end one-sided"
	return f.done()
}

// GeoMeanRatio is the gated figure for a paired ratio: the geometric mean of
// per-case ratios whose natural logs are the clusters' values, with the
// bounds of [MeanDifference] on the log scale.
func GeoMeanRatio(logs []Cluster, o Options) Figure {
	f := MeanDifference(logs, o)
	f.Method = "geometric mean ratio; log scale: " + f.Method
	f.Unit = "×"
	if !f.OK() {
		return f
	}
	f.Point, f.Lo, f.Hi = math.Exp(f.Point), math.Exp(f.Lo), math.Exp(f.Hi)
	return f.done()
}

// BoundedDifference is [MeanDifference] of differences that lie in −1..1, such
// as differences in accuracy. Where every family shows the same difference, the
// sample has no spread and the bounds of MeanDifference fall together; they say
// nothing of families that the sample does not hold. The bounds are then widened
// by the largest share q of families that may differ and still leave such a
// sample with probability alpha, q = 1 − alpha^(1/families) (Clopper–Pearson for
// zero events), each differing as far as it can.
func BoundedDifference(cs []Cluster, o Options) Figure {
	f := MeanDifference(cs, o)
	if !f.OK() || f.Hi > f.Lo {
		return f
	}
	q := 1 - math.Pow(1-o.filled(len(cs)).Level, 1/float64(f.Clusters))
	f.Lo, f.Hi = f.Point-q*(1+f.Point), f.Point+q*(1-f.Point)
	f.Method = "no spread over families: zero-event bound on the share that differs, each end one-sided"
	return f.done()
}
