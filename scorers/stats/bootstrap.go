package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// MinBCaClusters is the number of clusters below which the bias-corrected
// bootstrap falls back to the percentile one: its acceleration is estimated
// from a jackknife over so few clusters that it adds noise, not accuracy.
const MinBCaClusters = 20

// Bootstrap is the mean over cases with each end a one-sided bound from a
// bootstrap over whole clusters: bias-corrected and accelerated (Efron, JASA
// 82 (1987) 171–185), or percentile below [MinBCaClusters] clusters. It is
// seeded: the same input gives the same figure.
func Bootstrap(cs []Cluster, o Options) Figure {
	o = o.filled(len(cs))
	const name = "cluster bootstrap, each end one-sided"
	sorted, n, why := prepared(cs, o)
	if why != "" {
		return None(name, "%s", why)
	}
	if len(sorted) < 2 {
		return None(name, "1 family: nothing to resample")
	}
	draws := resampledMeans(sorted, o)
	f := Figure{Point: mean(sorted), Level: o.Level, N: n, Clusters: len(sorted)}
	lo, hi := 1-o.Level, o.Level
	if len(sorted) < MinBCaClusters {
		f.Method = name + " (percentile)"
		f = f.Warn("%s: percentile instead of BCa, and the bootstrap undercovers", families(len(sorted)))
	} else {
		f.Method = name + " (BCa)"
		lo, hi = bca(sorted, draws, f.Point, lo), bca(sorted, draws, f.Point, hi)
	}
	f.Lo, f.Hi = type7(draws, lo), type7(draws, hi)
	f.Lo, f.Hi = math.Min(f.Lo, f.Point), math.Max(f.Hi, f.Point)
	return f.done()
}

// resampledMeans draws clusters with replacement; the means come sorted.
func resampledMeans(cs []Cluster, o Options) []float64 {
	rng := rand.New(rand.NewPCG(o.Seed, 0xb0075))
	draws := make([]float64, o.Draws)
	k := uint32(len(cs))
	for d := range draws {
		sum, n := 0.0, 0
		for range cs {
			c := cs[rng.Uint32N(k)]
			sum += c.Sum
			n += c.N
		}
		draws[d] = sum / float64(n)
	}
	slices.Sort(draws)
	return draws
}

// bca maps a nominal probability to the one that corrects for bias and skew.
func bca(cs []Cluster, draws []float64, point, p float64) float64 {
	below := 0.0
	for _, d := range draws {
		switch {
		case d < point-tie(point):
			below++
		case d <= point+tie(point):
			below += 0.5
		}
	}
	share := below / float64(len(draws))
	if share <= 0 || share >= 1 {
		return p
	}
	z0 := z(share)
	a := acceleration(cs)
	zp := z(p)
	den := 1 - a*(z0+zp)
	if den <= 0 {
		return p
	}
	q := normCDF(z0 + (z0+zp)/den)
	return min(max(q, 0), 1)
}

// acceleration is the jackknife estimate over clusters.
func acceleration(cs []Cluster) float64 {
	sum, n := 0.0, 0
	for _, c := range cs {
		sum += c.Sum
		n += c.N
	}
	jack := make([]float64, len(cs))
	m := 0.0
	for i, c := range cs {
		jack[i] = (sum - c.Sum) / float64(n-c.N)
		m += jack[i] / float64(len(cs))
	}
	num, den := 0.0, 0.0
	for _, j := range jack {
		d := m - j
		num += d * d * d
		den += d * d
	}
	if den == 0 {
		return 0
	}
	return num / (6 * math.Pow(den, 1.5))
}
