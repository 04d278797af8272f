package stats

import (
	"math"
	"testing"
)

// Q-41 Q-42: equal answers on a few families show neither a gain nor its
// absence. With 8 families q = 1 − 0.05^(1/8) = 0.3123; with 12, 0.2209.
func TestBoundedDifferenceWithoutSpread_Q42(t *testing.T) {
	same := func(n int, v float64) []Cluster {
		cs := make([]Cluster, n)
		for i := range cs {
			cs[i] = Cluster{Sum: v, N: 1}
		}
		return cs
	}
	for _, c := range []struct {
		n         int
		v, lo, hi float64
	}{
		{8, 0, -0.312344, 0.312344},
		{12, 0, -0.220922, 0.220922},
		{12, 1, 1 - 2*0.220922, 1},
		{12, -1, -1, -1 + 2*0.220922},
	} {
		f := BoundedDifference(same(c.n, c.v), Options{Level: 0.95})
		if !f.OK() || math.Abs(f.Lo-c.lo) > 1e-5 || math.Abs(f.Hi-c.hi) > 1e-5 || f.Point != c.v {
			t.Errorf("%d families of %v: %+v, want [%v, %v]", c.n, c.v, f, c.lo, c.hi)
		}
	}
	if f := BoundedDifference(same(4, 0), Options{Level: 0.95}); f.OK() {
		t.Errorf("four families bound nothing: %+v", f)
	}
	mixed := append(same(8, 0), Cluster{Sum: 1, N: 1}, Cluster{Sum: -1, N: 1})
	a, b := BoundedDifference(mixed, Options{Level: 0.95, Seed: 1}), MeanDifference(mixed, Options{Level: 0.95, Seed: 1})
	if a.Lo != b.Lo || a.Hi != b.Hi {
		t.Errorf("a sample with spread is not touched: %+v, %+v", a, b)
	}
}
