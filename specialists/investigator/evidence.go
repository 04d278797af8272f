package investigator

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fabriccore/assay/specialists/contract"
)

// Chunk is a stretch of one evidence item that is worth reading.
type Chunk struct {
	Item     int // index into the evidence
	Line     int // 1-based line of its most telling line
	Salience float64
	Text     string
}

// Limits of evidence selection, in bytes and pieces. They bound what a
// request can cost whatever the size of its evidence.
const (
	maxChunks     = 8
	maxChunkBytes = 360
	perItemChunks = 3
	maxLineBytes  = 240
	// chunkCap keeps a chunk within the 512 tokens of a small embedding model
	// whatever its text: no token is shorter than a byte.
	chunkCap = 480
)

var (
	strong = regexp.MustCompile(`(?i)\b(error|fatal|panic|exception|traceback|failed|failure|denied|refused|forbidden|unauthorized|timed? ?out|deadlock|cannot|can't|could not|unable|missing|invalid|not found|no such|unknown|unrecognized|undefined|unexpected|conflict|exceed(ed|s)?|exhausted|killed|out of|too many|already|violates|corrupt|mismatch|unsupported|incompatible|requires|reject(ed)?|expired|abort(ed|ing)?|E[A-Z]{4,})\b`)
	weak   = regexp.MustCompile(`(?i)\b(warn(ing)?|retry(ing)?|slow|skipp(ed|ing)|deprecated|attempt)\b`)
	digits = regexp.MustCompile(`[0-9]+`)
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
	lines := strings.Split(strings.ReplaceAll(it.Text, "\r\n", "\n"), "\n")
	seen := map[string]int{}
	last := -1
	for n, l := range lines {
		if t := template(l); t != "" {
			seen[t]++
			last = n
		}
	}
	if last < 0 {
		return nil
	}
	score := make([]float64, len(lines))
	for n, l := range lines {
		t := template(l)
		if t == "" {
			continue
		}
		s := 0.2
		if strong.MatchString(l) {
			s += 3
		}
		if weak.MatchString(l) {
			s -= 0.5
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
	var out []Chunk
	used := make([]bool, len(lines))
	taken := map[string]bool{}
	for len(out) < perItemChunks {
		best := -1
		for n := range lines {
			if used[n] || score[n] <= 0 || taken[template(lines[n])] {
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
		taken[template(lines[best])] = true
		out = append(out, c)
	}
	return out
}

// window grows a chunk around line n, first downwards, then upwards, and marks
// its lines as used.
func window(lines []string, used []bool, n int) Chunk {
	lo, hi, size := n, n, len(clean(lines[n]))
	for size < maxChunkBytes {
		grown := false
		if hi+1 < len(lines) && !used[hi+1] && hi-n < 4 {
			hi++
			size += len(clean(lines[hi])) + 1
			grown = true
		}
		if lo > 0 && !used[lo-1] && n-lo < 2 && size < maxChunkBytes {
			lo--
			size += len(clean(lines[lo])) + 1
			grown = true
		}
		if !grown {
			break
		}
	}
	var b strings.Builder
	for i := lo; i <= hi; i++ {
		used[i] = true
		l := clean(lines[i])
		if l == "" || b.Len()+len(l)+1 > chunkCap {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l)
	}
	return Chunk{Text: b.String()}
}

// template is a line with its numbers blanked, so that repetitions show.
func template(l string) string {
	return digits.ReplaceAllString(strings.TrimSpace(clean(l)), "0")
}

// clean drops control characters and cuts very long lines in the middle; it
// never lets a line of evidence look like more than one.
func clean(l string) string {
	l = strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if r < 0x20 || r == 0x7f {
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
