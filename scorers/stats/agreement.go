package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// CohenKappa is the agreement of two readers over the same items beyond
// chance, −1..1, with the large-sample interval. Sources: Cohen, Educ.
// Psychol. Meas. 20 (1960) 37–46; variance by Fleiss, Cohen and Everitt,
// Psychol. Bull. 72 (1969) 323–327. Items where either is "" are left out.
func CohenKappa(a, b []string, level float64) Figure {
	const method = "Cohen κ, large-sample interval"
	if len(a) != len(b) || !levelOK(level) {
		return None(method, "readings don't pair or level out of range")
	}
	idx := map[string]int{}
	var keys []string
	for i := range a {
		if a[i] == "" || b[i] == "" {
			continue
		}
		keys = append(keys, a[i], b[i])
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for i, k := range keys {
		idx[k] = i
	}
	k := len(keys)
	p := make([][]float64, k)
	for i := range p {
		p[i] = make([]float64, k)
	}
	n := 0
	for i := range a {
		if a[i] != "" && b[i] != "" {
			p[idx[a[i]]][idx[b[i]]]++
			n++
		}
	}
	if n == 0 {
		return None(method, "no items")
	}
	row, col := make([]float64, k), make([]float64, k)
	po := 0.0
	for i := range p {
		for j := range p[i] {
			p[i][j] /= float64(n)
			row[i] += p[i][j]
			col[j] += p[i][j]
		}
		po += p[i][i]
	}
	pe := 0.0
	for i := range row {
		pe += row[i] * col[i]
	}
	if 1-pe < 1e-12 {
		return None(method, "only one class was ever given: κ is 0/0")
	}
	kappa := (po - pe) / (1 - pe)
	s1, s2 := 0.0, 0.0
	for i := range p {
		t := 1 - (row[i]+col[i])*(1-kappa)
		s1 += p[i][i] * t * t
		for j := range p {
			if j != i {
				u := col[i] + row[j]
				s2 += p[i][j] * u * u
			}
		}
	}
	t := kappa - pe*(1-kappa)
	v := (s1 + (1-kappa)*(1-kappa)*s2 - t*t) / ((1 - pe) * (1 - pe) * float64(n))
	half := z(1-(1-level)/2) * math.Sqrt(math.Max(0, v))
	return Figure{Point: kappa, Lo: math.Max(-1, kappa-half), Hi: math.Min(1, kappa+half), Level: level, N: n, Method: method}.done()
}

// KrippendorffAlpha is the nominal agreement of any number of readers: one
// row of readings a unit, "" = not read. The interval is a seeded percentile
// bootstrap over units. Source: Krippendorff, Content Analysis (2004) ch. 11.
func KrippendorffAlpha(units [][]string, o Options) Figure {
	o = o.filled(len(units))
	const method = "Krippendorff α (nominal), bootstrap over units"
	if !levelOK(o.Level) {
		return None(method, "level out of range")
	}
	var us []map[string]int
	for _, u := range units {
		c, n := map[string]int{}, 0
		for _, r := range u {
			if r != "" {
				c[r]++
				n++
			}
		}
		if n >= 2 {
			us = append(us, c)
		}
	}
	if len(us) == 0 {
		return None(method, "no unit was read twice")
	}
	point, ok := alphaOf(us)
	if !ok {
		return None(method, "only one class was ever given: α is 0/0")
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0xa1fa))
	var draws []float64
	pick := make([]map[string]int, len(us))
	for range min(o.Draws, 2000) {
		for i := range pick {
			pick[i] = us[rng.IntN(len(us))]
		}
		if a, ok := alphaOf(pick); ok {
			draws = append(draws, a)
		}
	}
	f := Figure{Point: point, Level: o.Level, N: len(us), Method: method}
	if len(draws) == 0 {
		return None(method, "no resample has two classes")
	}
	slices.Sort(draws)
	a := (1 - o.Level) / 2
	f.Lo, f.Hi = math.Min(type7(draws, a), point), math.Max(type7(draws, 1-a), point)
	return f.done()
}

// alphaOf is 1 − observed/expected disagreement over units' class counts.
func alphaOf(us []map[string]int) (float64, bool) {
	total := map[string]int{}
	n, do := 0.0, 0.0
	for _, u := range us {
		m, same := 0, 0
		for c, k := range u {
			m += k
			same += k * (k - 1)
			total[c] += k
		}
		n += float64(m)
		do += float64(m*(m-1)-same) / float64(m-1)
	}
	same := 0.0
	for _, k := range total {
		same += float64(k) * float64(k-1)
	}
	de := (n*(n-1) - same) / (n - 1)
	if de == 0 {
		return 0, false
	}
	return 1 - do/de, true
}
