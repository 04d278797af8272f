package investigator

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/fabriccore/assay/specialists/contract"
)

// Chunk is a stretch of one evidence item that is worth reading.
type Chunk struct {
	Item     int // index into the evidence
	Line     int // 1-based line of its most telling line
	Salience float64
	Text     string
	Lines    []int // 1-based number of each line of Text
}

// Limits of evidence selection, in bytes and pieces. They bound what a
// request can cost whatever the size of its evidence.
const (
	maxChunks     = 8
	maxChunkBytes = 360
	perItemChunks = 3
	maxLineBytes  = 240
	// scanBytes is how much of a line's beginning and of its end is read.
	scanBytes = 4096
	// chunkCap keeps a chunk within the 512 tokens of a small embedding model
	// whatever its text: no token is shorter than a byte.
	chunkCap = 480
)

var (
	strong = regexp.MustCompile(`(?i)\b(error|fatal|panic|exception|traceback|failed|failure|denied|refused|forbidden|unauthorized|timed? ?out|deadlock|cannot|can't|could not|unable|missing|invalid|not found|no such|unknown|unrecognized|undefined|unexpected|conflict|exceed(ed|s)?|exhausted|killed|out of|too many|already|violates|corrupt|mismatch|unsupported|incompatible|requires|reject(ed)?|expired|abort(ed|ing)?|(?-i:E[A-Z]{4,}))\b`)
	weak   = regexp.MustCompile(`(?i)\b(warn(ing)?|retry(ing)?|slow|skipp(ed|ing)|deprecated|attempt)\b`)
)

// Select picks the stretches of evidence most likely to carry the cause, in
// evidence order. It is deterministic: lines that name a fault, that are rare
// in their item and that stand at an item's end count most; lines that repeat
// one another count once; short items are taken whole.
func Select(ev []contract.EvidenceItem) []Chunk {
	var all []Chunk
	for i, it := range ev {
		if it.Source == "stage_record" && len(ev) > 1 {
			continue // command and exit code are put into the head of the text
		}
		all = append(all, chunksOf(i, it)...)
	}
	slices.SortStableFunc(all, func(a, b Chunk) int {
		switch {
		case a.Salience > b.Salience:
			return -1
		case a.Salience < b.Salience:
			return 1
		}
		return 0
	})
	if len(all) > maxChunks {
		all = all[:maxChunks]
	}
	slices.SortStableFunc(all, func(a, b Chunk) int {
		if a.Item != b.Item {
			return a.Item - b.Item
		}
		return a.Line - b.Line
	})
	return all
}

// chunksOf picks the best stretches of one item.
func chunksOf(index int, it contract.EvidenceItem) []Chunk {
	raw := strings.Split(strings.ReplaceAll(it.Text, "\r\n", "\n"), "\n")
	lines, shape := make([]string, len(raw)), make([]string, len(raw))
	seen := map[string]int{}
	last := -1
	for n, l := range raw {
		if len(l) > 2*scanBytes {
			l = l[:scanBytes] + " " + l[len(l)-scanBytes:]
			raw[n] = l
		}
		lines[n] = clean(l)
		shape[n] = template(lines[n])
		if shape[n] != "" {
			seen[shape[n]]++
			last = n
		}
	}
	if last < 0 {
		return nil
	}
	score := make([]float64, len(lines))
	words := map[string]float64{} // by shape: no word of either list has a digit
	for n, t := range shape {
		if t == "" {
			continue
		}
		s, ok := words[t]
		if cut := len(lines[n]) > maxLineBytes-8; cut || !ok {
			s = 0.2
			if strong.MatchString(raw[n]) {
				s += 3
			}
			if weak.MatchString(raw[n]) {
				s -= 0.5
			}
			if !cut {
				words[t] = s
			}
		}
		switch {
		case seen[t] == 1:
			s++
		case seen[t] > 3:
			s -= 1.5
		}
		if last-n < 3 {
			s += 0.75
		}
		score[n] = s
	}
	if slices.Max(score) <= 0 {
		score[last] = floorScore // an item of nothing but repetition has said one thing
	}
	var out []Chunk
	used := make([]bool, len(lines))
	taken := map[string]bool{}
	for len(out) < perItemChunks {
		best := -1
		for n := range lines {
			if used[n] || score[n] <= 0 || taken[shape[n]] {
				continue
			}
			if best < 0 || score[n] > score[best] {
				best = n
			}
		}
		if best < 0 {
			break
		}
		c := window(lines, used, best)
		c.Item, c.Line, c.Salience = index, best+1, score[best]-0.6*float64(len(out))
		taken[shape[best]] = true
		out = append(out, c)
	}
	return out
}

// template is a cleaned line with its numbers blanked, so that repetitions
// show.
func template(l string) string {
	var b strings.Builder
	digit := false
	for _, r := range []byte(strings.TrimSpace(l)) {
		if was := digit; r >= '0' && r <= '9' {
			if digit = true; was {
				continue
			}
			r = '0'
		} else {
			digit = false
		}
		b.WriteByte(r)
	}
	return b.String()
}

// floorScore is the score of the one line of an item that has no better.
const floorScore = 0.1

// window grows a chunk around line n, first downwards, then upwards, and marks
// its lines as used. Line n itself always has its place.
func window(lines []string, used []bool, n int) Chunk {
	lo, hi, size := n, n, len(lines[n])
	for size < maxChunkBytes {
		grown := false
		if hi+1 < len(lines) && !used[hi+1] && hi-n < 4 {
			hi++
			size += len(lines[hi]) + 1
			grown = true
		}
		if lo > 0 && !used[lo-1] && n-lo < 2 && size < maxChunkBytes {
			lo--
			size += len(lines[lo]) + 1
			grown = true
		}
		if !grown {
			break
		}
	}
	var b strings.Builder
	var numbers []int
	for i := lo; i <= hi; i++ {
		used[i] = true
		l, room := lines[i], chunkCap
		if i < n {
			room -= len(lines[n]) + 1
		}
		if l == "" || b.Len()+len(l)+1 > room {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l)
		numbers = append(numbers, i+1)
	}
	return Chunk{Text: b.String(), Lines: numbers}
}

// clean drops control characters and cuts very long lines in the middle; it
// never lets a line of evidence look like more than one.
func clean(l string) string {
	l = strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\u0085', r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(l, "?"))
	l = strings.TrimRight(l, " ")
	if len(l) > maxLineBytes {
		l = strings.ToValidUTF8(l[:maxLineBytes*2/3], "") + " … " + strings.ToValidUTF8(l[len(l)-maxLineBytes/3+5:], "")
	}
	return l
}
