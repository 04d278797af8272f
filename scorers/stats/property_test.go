package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// H-007: nothing missing, empty or not finite is ever a number.
func TestMissingNeverANumber(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, f := range map[string]Figure{
		"wilson 0/0": Wilson(0, 0, 0.95), "cp 0/0": ClopperPearson(0, 0, 0.95), "cp one-sided 0/0": ClopperPearsonOneSided(0, 0, 0.95),
		"wilson 3/2": Wilson(3, 2, 0.95), "wilson -1/2": Wilson(-1, 2, 0.95), "wilson level": Wilson(1, 2, nan),
		"quantile empty": Quantile(nil, 0.5, 0.95), "quantile nan": Quantile([]float64{1, nan}, 0.5, 0.95), "quantile p": Quantile([]float64{1}, nan, 0.95),
		"mean empty": MeanDifference(nil, Options{}), "mean nan": MeanDifference([]Cluster{{nan, 1}, {1, 1}}, Options{}),
		"mean inf": MeanDifference([]Cluster{{inf, 1}, {1, 1}}, Options{}), "ratio nan": GeoMeanRatio([]Cluster{{nan, 1}}, Options{}),
		"few families": MeanDifference([]Cluster{{1, 1}, {1, 1}, {1, 1}, {1, 1}}, Options{}),
		"huge ratio":   GeoMeanRatio([]Cluster{{1e4, 1}, {1e4, 1}, {1e4, 1}, {1e4, 1}, {1e4, 1}}, Options{}),
		"p empty":      SignFlipP(nil, 0, Options{}), "p nan": SignFlipP([]Cluster{{1, 1}}, nan, Options{}),
		"bootstrap one": Bootstrap([]Cluster{{1, 1}}, Options{}), "tango 0": Tango(0, 0, 0, 0.95), "mcnemar": McNemar(-1, 0),
		"kappa 0/0": CohenKappa([]string{"a", "a"}, []string{"a", "a"}, 0.95), "kappa empty": CohenKappa(nil, nil, 0.95),
		"alpha empty": KrippendorffAlpha(nil, Options{}), "alpha one class": KrippendorffAlpha([][]string{{"a", "a"}}, Options{}),
		"power nan": PairedPower(PowerDesign{Cases: 10, Families: 5, Effect: nan, Discordant: 0.4, Alpha: 0.05}),
		"power 0":   PairedPower(PowerDesign{}), "observed power no effect": ObservedPower([]Cluster{{1, 1}, {0, 1}}, 0, 0.05),
		"scaled": Wilson(1, 2, 0.95).In("ms", inf),
	} {
		if f.OK() || f.Point != 0 || f.Lo != 0 || f.Hi != 0 {
			t.Errorf("%s: %+v is a number", name, f)
		}
	}
}

func TestRound(t *testing.T) {
	for x, want := range map[float64]float64{
		1.0 / 3: 0.333333333333, 1e-300 / 3: 3.33333333333e-301, 123456789012345: 123456789012000, 0: 0,
	} {
		if got := Round(x); got != want {
			t.Errorf("Round(%v) = %v", x, got)
		}
	}
	if math.Signbit(Round(math.Copysign(0, -1))) {
		t.Error("−0 stays −0")
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		if Round(Round(x)) != Round(x) {
			t.Fatal("rounding twice differs")
		}
	})
}

// Proportions: the interval holds the point, lies in [0, 1], grows with k and
// narrows as the level falls.
func TestProportionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "n")
		k := rapid.IntRange(0, n-1).Draw(t, "k")
		for name, f := range map[string]func(int, int, float64) Figure{"w": Wilson, "cp": ClopperPearson, "cp1": ClopperPearsonOneSided} {
			a, b, c := f(k, n, 0.95), f(k+1, n, 0.95), f(k, n, 0.8)
			if !(0 <= a.Lo && a.Lo <= a.Point && a.Point <= a.Hi && a.Hi <= 1) {
				t.Fatalf("%s: %+v", name, a)
			}
			if a.Lo > b.Lo || a.Hi > b.Hi {
				t.Fatalf("%s is not monotone at %d of %d", name, k, n)
			}
			if c.Lo < a.Lo || c.Hi > a.Hi {
				t.Fatalf("%s widens as the level falls at %d of %d", name, k, n)
			}
		}
	})
}

func clusters(t *rapid.T) []Cluster {
	k := rapid.IntRange(6, 40).Draw(t, "families")
	cs := make([]Cluster, k)
	for i := range cs {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		cs[i] = Cluster{float64(rapid.IntRange(-n, n).Draw(t, "sum")), n}
	}
	return cs
}

// Gated figures: bounds in [−1, 1] around the mean; the order of families has
// no influence; swapping the arms mirrors the exact figure; a better case
// never lowers the exact bound.
func TestGatedProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cs := clusters(t)
		o := Options{Seed: rapid.Uint64().Draw(t, "seed"), Draws: 199}
		f := MeanDifference(cs, o)
		if !f.OK() || !(-1 <= f.Lo && f.Lo <= f.Point && f.Point <= f.Hi && f.Hi <= 1) {
			t.Fatalf("%+v", f)
		}
		shuffled := append([]Cluster{}, cs...)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if g := MeanDifference(shuffled, o); fmt.Sprint(g) != fmt.Sprint(f) {
			t.Fatalf("order matters: %v and %v", f, g)
		}
		if len(cs) > 12 {
			return
		}
		mirror := make([]Cluster, len(cs))
		for i, c := range cs {
			mirror[i] = Cluster{-c.Sum, c.N}
		}
		a, b := SignFlipBound(cs, o), SignFlipBound(mirror, o)
		if a.Lo != -b.Hi && a.Lo+b.Hi != 0 {
			t.Fatalf("no mirror: %v and %v", a, b)
		}
		i := rapid.IntRange(0, len(cs)-1).Draw(t, "i")
		if cs[i].Sum < float64(cs[i].N) {
			better := append([]Cluster{}, cs...)
			better[i].Sum++
			if g := SignFlipBound(better, o); g.Lo < a.Lo || SignFlipP(better, 0, o).Point > SignFlipP(cs, 0, o).Point {
				t.Fatalf("a better case lowers the bound: %v to %v", a.Lo, g.Lo)
			}
		}
		// The bound is the test's inversion: p at a null just below the bound
		// is at most alpha, above it more.
		if p := SignFlipP(cs, a.Lo-1e-9, o).Point; p > 0.05 {
			t.Fatalf("p = %v below the bound", p)
		}
		if p := SignFlipP(cs, a.Lo+1e-9, o).Point; p <= 0.05 && a.Lo < a.Point {
			t.Fatalf("p = %v above the bound", p)
		}
	})
}

// Scaling every ratio scales the figure.
func TestRatioScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cs := clusters(t)
		shift := rapid.Float64Range(-1, 1).Draw(t, "shift")
		moved := make([]Cluster, len(cs))
		for i, c := range cs {
			moved[i] = Cluster{c.Sum + shift*float64(c.N), c.N}
		}
		a, b := GeoMeanRatio(cs, Options{Draws: 199}), GeoMeanRatio(moved, Options{Draws: 199})
		if math.Abs(b.Point/a.Point/math.Exp(shift)-1) > 1e-9 {
			t.Fatalf("%v and %v differ by other than %v", a.Point, b.Point, math.Exp(shift))
		}
		if len(cs) <= ExactClusters && math.Abs(b.Hi/a.Hi/math.Exp(shift)-1) > 1e-9 {
			t.Fatalf("bounds %v and %v differ by other than %v", a.Hi, b.Hi, math.Exp(shift))
		}
	})
}

// Quantiles are order-free, monotone in p and inside the sample.
func TestQuantileProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 80).Draw(t, "xs")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		q := rapid.Float64Range(0, p).Draw(t, "q")
		a, b := Quantile(xs, p, 0.95), Quantile(xs, q, 0.95)
		if a.Lo > a.Point || a.Point > a.Hi || b.Point > a.Point {
			t.Fatalf("%+v %+v", a, b)
		}
		rev := make([]float64, len(xs))
		for i, x := range xs {
			rev[len(xs)-1-i] = x
		}
		if fmt.Sprint(Quantile(rev, p, 0.95)) != fmt.Sprint(a) {
			t.Fatal("order matters")
		}
	})
}

// The power formula against simulated gates of [MeanDifference], within what
// the approximation and 400 runs allow.
func TestPowerAgainstSimulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	hits, runs := 0, 400
	for i := range runs {
		cs := make([]Cluster, 30)
		for j := range cs {
			cs[j].N = 4
			for range 4 {
				switch u := rng.Float64(); {
				case u < 0.275:
					cs[j].Sum++
				case u < 0.4:
					cs[j].Sum--
				}
			}
		}
		if MeanDifference(cs, Options{Seed: uint64(i), Draws: 499}).Lo > 0 {
			hits++
		}
	}
	want := PairedPower(PowerDesign{Cases: 120, Families: 30, Effect: 0.15, Discordant: 0.4, Alpha: 0.05}).Point
	if got := float64(hits) / float64(runs); math.Abs(got-want) > 0.08 {
		t.Errorf("simulated power %.3f, formula %.3f", got, want)
	}
}

func TestNth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-3, 3), 1, 50).Draw(t, "xs")
		var a []float64
		for _, x := range xs {
			a = append(a, math.Round(x))
		}
		k := rapid.IntRange(0, len(a)-1).Draw(t, "k")
		s := append([]float64{}, a...)
		slices.Sort(s)
		if got := nth(a, k); got != s[k] {
			t.Fatalf("%v, want %v", got, s[k])
		}
	})
}
