package leak

import (
	"strings"
	"unicode"

	"github.com/fabriccore/assay/corpus"
)

// ShingleWords is the length of a shingle, in words.
const ShingleWords = 5

// MaxNear is the greatest Jaccard similarity of shingles that two cases of
// different corpora may have.
const MaxNear = 0.4

// Pair is two cases and how alike their evidence is.
type Pair struct {
	A          string  `json:"a"`
	B          string  `json:"b"`
	Similarity float64 `json:"similarity"`
}

// Nearest is the pair of cases, one from each corpus, whose evidence is most
// alike.
func Nearest(a, b *corpus.Corpus) Pair {
	left, right := shingleAll(a), shingleAll(b)
	var top Pair
	for i, x := range left {
		for j, y := range right {
			if s := jaccard(x, y); s >= top.Similarity {
				top = Pair{a.Cases[i].ID, b.Cases[j].ID, s}
			}
		}
	}
	return top
}

func shingleAll(c *corpus.Corpus) []map[string]bool {
	out := make([]map[string]bool, len(c.Cases))
	for i, k := range c.Cases {
		out[i] = map[string]bool{}
		for _, e := range k.Evidence {
			shingle(e.Text, out[i])
		}
	}
	return out
}

// shingle adds the runs of ShingleWords words of a text; digits count as 0, so
// that times and ports don't make two texts differ.
func shingle(text string, into map[string]bool) {
	words := strings.FieldsFunc(strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return unicode.ToLower(r)
	}, text), func(r rune) bool { return !unicode.IsLetter(r) && r != '0' })
	for i := 0; i+ShingleWords <= len(words); i++ {
		into[strings.Join(words[i:i+ShingleWords], " ")] = true
	}
}

func jaccard(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	if union := len(a) + len(b) - both; union > 0 {
		return float64(both) / float64(union)
	}
	return 0
}
