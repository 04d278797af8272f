package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// world draws one experiment whose true mean difference is zero: the edge of
// the null, where a false pass is most likely.
type world struct {
	name string
	draw func(rng *rand.Rand, families int) []Cluster
}

const perFamily = 5

// bernoulliPair draws a family's cases for two arms whose chances of being
// right are a and b; share of the cases in which both copy one family-wide
// coin makes the correlation within a family.
func bernoulliPair(rng *rand.Rand, n int, a, b, share float64) Cluster {
	coinA, coinB := rng.Float64() < a, rng.Float64() < b
	c := Cluster{N: n}
	for range n {
		x, y := rng.Float64() < a, rng.Float64() < b
		if rng.Float64() < share {
			x = coinA
		}
		if rng.Float64() < share {
			y = coinB
		}
		if x {
			c.Sum++
		}
		if y {
			c.Sum--
		}
	}
	return c
}

var worlds = []world{
	// Both arms at 0.6, correlated 0.7 within a family.
	{"equal arms, correlated", func(rng *rand.Rand, f int) []Cluster {
		cs := make([]Cluster, f)
		for i := range cs {
			cs[i] = bernoulliPair(rng, perFamily, 0.6, 0.6, 0.7)
		}
		return cs
	}},
	// The candidate is better in some families and worse in others.
	{"family effects", func(rng *rand.Rand, f int) []Cluster {
		cs := make([]Cluster, f)
		for i := range cs {
			e := 0.3 * (2*rng.Float64() - 1)
			cs[i] = bernoulliPair(rng, perFamily, 0.5+e, 0.5, 0.3)
		}
		return cs
	}},
	// Rules know 60 % of the families wholly and nothing of the others; the
	// candidate is right on 60 % everywhere: skewed by construction.
	{"rules know whole families", func(rng *rand.Rand, f int) []Cluster {
		cs := make([]Cluster, f)
		for i := range cs {
			b := 0.0
			if rng.Float64() < 0.6 {
				b = 1
			}
			cs[i] = bernoulliPair(rng, perFamily, 0.6, b, 0.5)
		}
		return cs
	}},
	// Rules know 40 % of the families: skewed the other way.
	{"rules know few families", func(rng *rand.Rand, f int) []Cluster {
		cs := make([]Cluster, f)
		for i := range cs {
			b := 0.0
			if rng.Float64() < 0.4 {
				b = 1
			}
			cs[i] = bernoulliPair(rng, perFamily, 0.4, b, 0.5)
		}
		return cs
	}},
	// Families of 1 to 9 cases.
	{"unequal families", func(rng *rand.Rand, f int) []Cluster {
		cs := make([]Cluster, f)
		for i := range cs {
			cs[i] = bernoulliPair(rng, 1+rng.IntN(9), 0.55, 0.55, 0.6)
		}
		return cs
	}},
	// Log-ratios with a family effect and a few slow cases; mean zero.
	{"log-ratios, heavy right tail", func(rng *rand.Rand, f int) []Cluster {
		cs := make([]Cluster, f)
		for i := range cs {
			e := 0.2 * rng.NormFloat64()
			for range perFamily {
				// exp(1)·0.3 − 0.3 has mean 0 and skewness 2.
				cs[i].Sum += e + 0.3*(rng.ExpFloat64()-1)
				cs[i].N++
			}
		}
		return cs
	}},
}

// Q-45, design §8: by simulation the one-sided bounds of the gated figures
// hold their level: false passes are not above alpha beyond three standard
// errors of the simulation. Both ends count, since a lower bound gates
// accuracy and an upper bound latency. Print the measured rates with
// go test ./scorers/stats -run TestCalibration -v
func TestCalibration(t *testing.T) {
	runs := 4000
	if testing.Short() {
		runs = 600
	}
	const alpha = 0.05
	limit := alpha + 3*math.Sqrt(alpha*(1-alpha)/float64(runs))
	for _, families := range []int{12, 40} {
		for _, w := range worlds {
			rng := rand.New(rand.NewPCG(uint64(families), 99))
			lower, upper, boot := 0, 0, 0
			for i := range runs {
				cs := w.draw(rng, families)
				o := Options{Seed: uint64(i), Draws: 999}
				f := MeanDifference(cs, o)
				if f.OK() && f.Lo > 0 {
					lower++
				}
				if f.OK() && f.Hi < 0 {
					upper++
				}
				if b := Bootstrap(cs, o); b.OK() && b.Lo > 0 {
					boot++
				}
			}
			r := func(n int) float64 { return float64(n) / float64(runs) }
			t.Logf("%d families, %s: false pass lower %.4f upper %.4f; bootstrap alone %.4f (limit %.4f, %d runs)",
				families, w.name, r(lower), r(upper), r(boot), limit, runs)
			if r(lower) > limit || r(upper) > limit {
				t.Errorf("%d families, %s: false passes above alpha", families, w.name)
			}
		}
	}
}
