package stats

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Expected values come from an independent implementation. After
//
//	python3 -m venv ka && ka/bin/pip install scipy statsmodels krippendorff
//
// each comment names the call.

func near(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.12g, want %.12g", name, got, want)
	}
}

// H-007. statsmodels.stats.proportion.proportion_confint(k, n, 0.05, "wilson"
// and "beta"); 81 of 263 and 15 of 148 are in Newcombe, Statistics in
// Medicine 17 (1998) 857–872, table I.
func TestKnownProportions(t *testing.T) {
	for _, c := range []struct {
		k, n                   int
		wlo, whi, cplow, cphig float64
	}{
		{0, 12, 0, 0.24249400665524096, 0, 0.2646484693970512},
		{12, 12, 0.7575059933447589, 1, 0.7353515306029488, 1},
		{19, 38, 0.348499283643951, 0.651500716356049, 0.33378900611309653, 0.6662109938869034},
		{30, 38, 0.6365422052467259, 0.8892520815700412, 0.6268117163983604, 0.9044588845441259},
		{1, 29, 0.006113214292762667, 0.17175521879320294, 0.000872646883579922, 0.17764429548872293},
		{81, 263, 0.2552885198782742, 0.36620957698280004, 0.25273674558527126, 0.3676219226013514},
		{15, 148, 0.06238639953073628, 0.16048724172330803, 0.05784401008344857, 0.161650490349479},
	} {
		w, cp := Wilson(c.k, c.n, 0.95), ClopperPearson(c.k, c.n, 0.95)
		id := fmt.Sprintf("%d of %d", c.k, c.n)
		near(t, id+" Wilson lo", w.Lo, c.wlo, 1e-9)
		near(t, id+" Wilson hi", w.Hi, c.whi, 1e-9)
		near(t, id+" CP lo", cp.Lo, c.cplow, 1e-8)
		near(t, id+" CP hi", cp.Hi, c.cphig, 1e-8)
	}
}

// H-007's own sentences: with n = 12 a perfect run still only shows ≥ 73.5 %
// (two-sided) and ≥ 77.9 % (one-sided); with n = 38 Wilson is ±15.2 points at
// 50 %. scipy.stats.beta.ppf(0.05, 12, 1)
func TestH007Sentences(t *testing.T) {
	near(t, "CP 12/12", ClopperPearson(12, 12, 0.95).Lo, 0.735, 5e-4)
	near(t, "one-sided CP 12/12", ClopperPearsonOneSided(12, 12, 0.95).Lo, 0.7790778080544442, 1e-9)
	w := Wilson(19, 38, 0.95)
	near(t, "half width at 19/38", (w.Hi-w.Lo)/2, 0.152, 5e-4)
}

// statsmodels.stats.contingency_tables.mcnemar([[0, b], [c, 0]], exact=True)
func TestKnownMcNemar(t *testing.T) {
	for _, c := range []struct {
		b, c int
		p    float64
	}{{7, 1, 0.0703125}, {0, 5, 0.0625}, {10, 10, 1}, {3, 14, 0.012725830078125}} {
		near(t, fmt.Sprint("McNemar ", c.b, c.c), McNemar(c.b, c.c).Point, c.p, 1e-9)
	}
}

// The first row is published: airway hyper-responsiveness, 1 and 7 discordant
// of 21, Tango −0.517 to −0.026 (Fagerland, Lydersen and Laake, Statistics in
// Medicine 33 (2014) 2850–2875). The others, and its digits, come from a
// numeric maximisation of the constrained likelihood
// (scipy.optimize.minimize_scalar over the nuisance probability, brentq over
// the difference).
func TestKnownTango(t *testing.T) {
	for _, c := range []struct {
		b, c, n int
		lo, hi  float64
	}{
		{1, 7, 21, -0.5172322772714654, -0.026003032518823372},
		{12, 2, 50, 0.061112406828218474, 0.34470874770338117},
		{20, 0, 60, 0.22729261523520627, 0.4594313354788243},
		{5, 9, 44, -0.2608328627467894, 0.08101624732053284},
	} {
		f := Tango(c.b, c.c, c.n, 0.95)
		near(t, fmt.Sprint("Tango lo ", c), f.Lo, c.lo, 1e-6)
		near(t, fmt.Sprint("Tango hi ", c), f.Hi, c.hi, 1e-6)
	}
}

// numpy.quantile(x, p); ranks from scipy.stats.binom.cdf: the largest l with
// P(B ≤ l−1) ≤ 0.025 and the smallest u with P(B ≤ u−1) ≥ 0.975.
func TestKnownQuantile(t *testing.T) {
	var x []float64
	for i := 1; i <= 20; i++ {
		x = append(x, float64(i*i))
	}
	f := Quantile(x, 0.5, 0.95)
	near(t, "median", f.Point, 110.5, 1e-9)
	near(t, "median lo", f.Lo, 36, 0)  // rank 6
	near(t, "median hi", f.Hi, 225, 0) // rank 15
	f = Quantile(x, 0.95, 0.95)
	near(t, "p95", f.Point, 362.95, 1e-9)
	near(t, "p95 lo", f.Lo, 289, 0) // rank 17
	if f.Hi != 400 || len(f.Warnings) != 1 {
		t.Errorf("p95 of 20 has no upper end at this level: got %v %v", f.Hi, f.Warnings)
	}
	f = Quantile(x, 0.1, 0.95)
	near(t, "p10", f.Point, 8.5, 1e-9)
	near(t, "p10 hi", f.Hi, 36, 0) // rank 6
}

// statsmodels.stats.inter_rater.cohens_kappa([[20,5,2],[3,15,4],[1,2,18]])
func TestKnownKappa(t *testing.T) {
	var a, b []string
	for i, row := range [][]int{{20, 5, 2}, {3, 15, 4}, {1, 2, 18}} {
		for j, n := range row {
			for range n {
				a, b = append(a, fmt.Sprint(i)), append(b, fmt.Sprint(j))
			}
		}
	}
	f := CohenKappa(a, b, 0.95)
	near(t, "κ", f.Point, 0.6354166666666666, 1e-9)
	near(t, "κ lo", f.Lo, 0.48528597986353406, 1e-9)
	near(t, "κ hi", f.Hi, 0.7855473534697992, 1e-9)
}

// Krippendorff's own example of four observers and twelve units: α = 0.743
// (Content Analysis, 2004). krippendorff.alpha(level_of_measurement="nominal")
func TestKnownKrippendorff(t *testing.T) {
	units := make([][]string, 12)
	for _, r := range []string{
		"1 2 3 3 2 1 4 1 2 - - -",
		"1 2 3 3 2 2 4 1 2 5 - 3", "- 3 3 3 2 3 4 2 2 5 1 -", "1 2 3 3 2 4 4 1 2 5 1 -",
	} {
		for i, v := range strings.Fields(r) {
			if v == "-" {
				v = ""
			}
			units[i] = append(units[i], v)
		}
	}
	f := KrippendorffAlpha(units, Options{})
	near(t, "α", f.Point, 0.743421052631579, 1e-9)
	if !(f.Lo < f.Point && f.Point < f.Hi) {
		t.Errorf("interval %v..%v does not hold %v", f.Lo, f.Hi, f.Point)
	}
}

// Brute force over itertools.product([1, -1], repeat=8) with the statistic
// sum(s * (S - theta*N)), the bound by bisection of theta on p ≤ 0.05.
func TestKnownSignFlip(t *testing.T) {
	var cs []Cluster
	n := []int{3, 2, 1, 4, 2, 2, 3, 3}
	for i, s := range []float64{2, 1, 0, 3, -1, 1, 2, -2} {
		cs = append(cs, Cluster{s, n[i]})
	}
	near(t, "p", SignFlipP(cs, 0, Options{}).Point, 0.1640625, 1e-12)
	f := SignFlipBound(cs, Options{})
	near(t, "mean", f.Point, 0.3, 1e-12)
	near(t, "lower bound", f.Lo, -0.2, 1e-9)
}

// scipy.stats.t.cdf and ppf in 1 − T(t(1−α) − effect/se), F − 1 degrees.
func TestKnownPower(t *testing.T) {
	f := PairedPower(PowerDesign{Cases: 200, Families: 40, Effect: 0.15, Discordant: 0.4, ICC: 0.2, Alpha: 0.05})
	near(t, "power", f.Point, 0.8101536262134232, 1e-8)
	f = PairedPower(PowerDesign{Cases: 60, Families: 12, Effect: 0.2, Discordant: 0.5, ICC: 0.3, Alpha: 0.05})
	near(t, "power", f.Point, 0.40137373084762307, 1e-8)
}

// statsmodels OLS on a constant, cov_type="cluster": 0.2206484.
func TestKnownClusterError(t *testing.T) {
	var y []float64
	var g []string
	for i, v := range [][]float64{{1, 1, 0}, {1, 0}, {0}, {1, 1, 1, 0}, {-1, 0}, {1, 0}, {1, 1, 0}, {-1, -1, 0}} {
		for _, x := range v {
			y, g = append(y, x), append(g, fmt.Sprint(i))
		}
	}
	near(t, "se", stdErr(ByCluster(y, g)), 0.2206484, 1e-7)
}

// scipy.stats.bootstrap((m,), numpy.mean, confidence_level=0.9,
// method="BCa", n_resamples=100000): 0.104 to 0.336 for 25 families of equal
// size with these means.
func TestKnownBCa(t *testing.T) {
	var cs []Cluster
	for _, m := range []float64{0.2, 0.4, -0.2, 0, 0.6, 0.2, 0.2, -0.4, 1, 0.4, 0, 0.2, -0.2, 0.4, 0.6, 0, 0.2, 0.8, -0.6, 0.2, 0.4, 0, 0.2, 0.2, 0.6} {
		cs = append(cs, Cluster{5 * m, 5})
	}
	f := Bootstrap(cs, Options{Level: 0.95, Draws: 100000})
	near(t, "BCa lo", f.Lo, 0.104, 0.0081)
	near(t, "BCa hi", f.Hi, 0.336, 0.0081)
}
