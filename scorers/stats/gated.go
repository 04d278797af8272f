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
