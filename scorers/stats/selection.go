package stats

// nth reorders xs so that xs[k] is what sorting would put there, with nothing
// larger before and nothing smaller after it, and returns it. Three-way
// quickselect: subset means tie a lot. xs holds no NaN.
func nth(xs []float64, k int) float64 {
	lo, hi := 0, len(xs)-1
	for lo < hi {
		p := median3(xs[lo], xs[lo+(hi-lo)/2], xs[hi])
		lt, i, gt := lo, lo, hi
		for i <= gt {
			switch {
			case xs[i] < p:
				xs[i], xs[lt] = xs[lt], xs[i]
				lt++
				i++
			case xs[i] > p:
				xs[i], xs[gt] = xs[gt], xs[i]
				gt--
			default:
				i++
			}
		}
		switch {
		case k < lt:
			hi = lt - 1
		case k > gt:
			lo = gt + 1
		default:
			return xs[k]
		}
	}
	return xs[k]
}

func median3(a, b, c float64) float64 {
	return max(min(a, b), min(max(a, b), c))
}
