package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Cluster is what a family adds to a mean: the sum of its cases' values and
// their number. Every family-level method here needs no more.
type Cluster struct {
	Sum float64
	N   int
}

// ByCluster groups values by their cluster's name. The order of the input
// has no influence: values are added up in sorted order.
func ByCluster(values []float64, names []string) []Cluster {
	type pair struct {
		name  string
		value float64
	}
	ps := make([]pair, 0, len(values))
	for i, v := range values {
		ps = append(ps, pair{names[i], v})
	}
	slices.SortFunc(ps, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.value, b.value))
	})
	var cs []Cluster
	for i, p := range ps {
		if i == 0 || p.name != ps[i-1].name {
			cs = append(cs, Cluster{})
		}
		cs[len(cs)-1].Sum += p.value
		cs[len(cs)-1].N++
	}
	return cs
}

// Options are the choices of a family-level method. The zero value means
// level 0.95, seed 0 and the default number of draws.
type Options struct {
	Level float64 // of each end as a one-sided bound
	Seed  uint64
	Draws int // of a bootstrap or a Monte Carlo test
}

// Defaults of Options. From 2,000 clusters on, fewer draws than DefaultDraws
// are made, so that draws × clusters stays near drawnClusters, but never fewer
// than leastDraws.
const (
	DefaultLevel  = 0.95
	DefaultDraws  = 4999
	drawnClusters = 10_000_000
	leastDraws    = 999
)

// filled sets what is left at zero, for a number of clusters.
func (o Options) filled(clusters int) Options {
	if o.Level == 0 {
		o.Level = DefaultLevel
	}
	if o.Draws <= 0 {
		o.Draws = min(DefaultDraws, max(leastDraws, drawnClusters/max(clusters, 1)-1))
	}
	return o
}

// prepared checks and orders clusters, so that no method depends on their
// order. why is not empty when there is nothing to estimate from.
func prepared(cs []Cluster, o Options) (sorted []Cluster, n int, why string) {
	if !levelOK(o.Level) {
		return nil, 0, "level out of range"
	}
	for _, c := range cs {
		if !finite(c.Sum) {
			return nil, 0, "a value is not a finite number"
		}
		if c.N > 0 {
			sorted = append(sorted, c)
			n += c.N
		}
	}
	if n == 0 {
		return nil, 0, "no cases"
	}
	slices.SortFunc(sorted, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(a.Sum, b.Sum), cmp.Compare(a.N, b.N))
	})
	return sorted, n, ""
}

// mean is the mean over cases: the ratio of sums.
func mean(cs []Cluster) float64 {
	s, n := 0.0, 0
	for _, c := range cs {
		s += c.Sum
		n += c.N
	}
	return s / float64(n)
}

// stdErr is the cluster-robust standard error of the mean over cases, with
// the small-sample factor F/(F−1). Source: Cameron and Miller, J. Human
// Resources 50 (2015) 317–372, §II. It needs two clusters.
func stdErr(cs []Cluster) float64 {
	m, n, ss := mean(cs), 0, 0.0
	for _, c := range cs {
		r := c.Sum - m*float64(c.N)
		ss += r * r
		n += c.N
	}
	k := float64(len(cs))
	return math.Sqrt(k/(k-1)*ss) / float64(n)
}

// families words a number of clusters.
func families(n int) string {
	if n == 1 {
		return "1 family"
	}
	return fmt.Sprintf("%d families", n)
}
