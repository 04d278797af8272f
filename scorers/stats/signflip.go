package stats

import (
	"math"
	"math/rand/v2"
)

// ExactClusters is the largest number of clusters for which all sign
// patterns are enumerated; above it they are drawn.
const ExactClusters = 20

// SignFlipP is the one-sided p-value of the sign-flip test of "the mean over
// cases is at most null", flipping whole clusters. Exact up to
// [ExactClusters] clusters, Monte Carlo above, (1+hits)/(1+draws). Source:
// Fisher's randomisation test; for clusters Canay, Romano and Shaikh,
// Econometrica 85 (2017) 1013–1030. It assumes that a cluster's deviation
// from the mean is as likely in either direction.
func SignFlipP(cs []Cluster, null float64, o Options) Figure {
	o = o.filled(len(cs))
	method := "sign-flip over families, one-sided p"
	sorted, n, why := prepared(cs, o)
	if why != "" || !finite(null) {
		return None(method, "%s", orElse(why, "null is not a finite number"))
	}
	means, total := subsetMeans(sorted, o)
	hits := 0
	for _, m := range means {
		if m <= null+tie(null) {
			hits++
		}
	}
	p := float64(1+hits) / float64(total)
	return Figure{Point: p, Lo: p, Hi: p, Level: o.Level, N: n, Clusters: len(sorted), Method: method + how(len(sorted), o)}.done()
}

// SignFlipBound is the mean over cases with each end a one-sided bound by
// inversion of the sign-flip test. Flipping the clusters of a set A keeps the
// statistic at least as large exactly when the mean over A is at most the
// null, so the lower bound is an order statistic of the subset means
// (Hartigan, JASA 64 (1969) 1303–1317: typical values).
func SignFlipBound(cs []Cluster, o Options) Figure {
	o = o.filled(len(cs))
	const method = "sign-flip over families, each end one-sided"
	sorted, n, why := prepared(cs, o)
	if why != "" {
		return None(method, "%s", why)
	}
	means, total := subsetMeans(sorted, o)
	// Rejected are nulls with (1+#{means ≤ null})/total ≤ alpha.
	k := int(math.Floor((1-o.Level)*float64(total)*(1+1e-12))) - 1
	if k < 0 {
		return None(method, "%s are too few for a bound at %.4g %%", families(len(sorted)), 100*o.Level)
	}
	lo := nth(means, k)
	hi := nth(means[k:], len(means)-1-2*k)
	f := Figure{
		Point: mean(sorted), Lo: lo, Hi: hi, Level: o.Level,
		N: n, Clusters: len(sorted), Method: method + how(len(sorted), o),
	}
	f.Lo, f.Hi = math.Min(f.Lo, f.Point), math.Max(f.Hi, f.Point)
	return f.done()
}

// subsetMeans are the means over cases of all non-empty sets of clusters, or
// of drawn ones; total counts the identity pattern too.
func subsetMeans(cs []Cluster, o Options) (means []float64, total int) {
	if len(cs) > ExactClusters {
		return drawnSubsetMeans(cs, o), o.Draws + 1
	}
	total = 1 << len(cs)
	sums, ns := make([]float64, total), make([]int32, total)
	for i, c := range cs { // the sets with i as their last member
		for j := range 1 << i {
			sums[1<<i|j] = sums[j] + c.Sum
			ns[1<<i|j] = ns[j] + int32(c.N)
		}
	}
	for j := 1; j < total; j++ {
		sums[j] /= float64(ns[j])
	}
	return sums[1:], total
}

func drawnSubsetMeans(cs []Cluster, o Options) []float64 {
	rng := rand.New(rand.NewPCG(o.Seed, 0x51676e))
	means := make([]float64, 0, o.Draws)
	for len(means) < o.Draws {
		sum, n := 0.0, 0
		var bits uint64
		for i, c := range cs {
			if i%64 == 0 {
				bits = rng.Uint64()
			}
			if bits&1 == 1 {
				sum += c.Sum
				n += c.N
			}
			bits >>= 1
		}
		if n == 0 { // the identity, which is counted once already
			continue
		}
		means = append(means, sum/float64(n))
	}
	return means
}

// tie widens a comparison by rounding error, so that ties count as hits.
func tie(x float64) float64 { return 1e-12 * (1 + math.Abs(x)) }

func how(clusters int, o Options) string {
	if clusters > ExactClusters {
		return " (Monte Carlo)"
	}
	return " (exact)"
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
