package investigator

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fabriccore/assay/specialists/contract"
)

// maxCause bounds the cause, in characters, as the schema states it.
const maxCause = 120

// parseAnswer reads the constrained output strictly: a key that is missing,
// extra or doubled, text around the object, a wrong type, a letter outside the
// menu or a line outside the evidence fails (F-060).
func parseAnswer(text string, classes, lines int) (answer, error) {
	var a answer
	if err := contract.Flat(text, map[string]any{"class": &a.Class, "line": &a.Line, "cause": &a.Cause}); err != nil {
		return answer{}, badOutput("%v", err)
	}
	i := strings.Index(letters, a.Class)
	if len(a.Class) != 1 || i < 0 || i >= classes {
		return answer{}, badOutput("class is not on the menu of %d", min(classes, maxMenu))
	}
	if a.Line < 1 || a.Line > max(lines, 1) {
		return answer{}, badOutput("line %d is not among the %d given", a.Line, lines)
	}
	if n := utf8.RuneCountInString(a.Cause); n < 1 || n > maxCause {
		return answer{}, badOutput("cause has %d characters, not 1 to %d", n, maxCause)
	}
	return a, nil
}

func badOutput(format string, args ...any) error {
	return &contract.Fault{Reason: contract.ReasonSchemaInvalid, Err: fmt.Errorf("%w: %s", ErrOutput, fmt.Sprintf(format, args...))}
}

// letterLogprobs finds the position that chose the class and returns the
// log-probability of each menu letter there; letters that the server did not
// list get the least listed value. nil when the position can't be found.
func letterLogprobs(lp []contract.TokenLogprobs, n int) []float64 {
	if n > maxMenu {
		n = maxMenu
	}
	const before = `"class":"`
	seen := "" // the end of what came so far, without spaces
	for _, t := range lp {
		tok := strings.TrimSpace(t.Token)
		if strings.HasSuffix(seen, before) && len(tok) >= 1 && len(t.Top) > 0 {
			return lettersAt(t.Top, n)
		}
		seen += squeeze(t.Token)
		seen = seen[max(0, len(seen)-len(before)):]
	}
	return nil
}

func lettersAt(top []contract.TokenLogprob, n int) []float64 {
	out := make([]float64, n)
	least := math.Inf(1)
	for i := range out {
		out[i] = math.Inf(-1)
	}
	for _, a := range top {
		least = math.Min(least, a.Logprob)
		s := strings.Trim(strings.TrimSpace(a.Token), `"`)
		if i := strings.Index(letters[:n], s); len(s) == 1 && i >= 0 {
			out[i] = math.Max(out[i], a.Logprob)
		}
	}
	for i := range out {
		if math.IsInf(out[i], -1) {
			out[i] = least
		}
	}
	return out
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// generatorScores turns the letter's log-probabilities, less those of the
// empty case, into a score a class. Without log-probabilities the chosen
// letter counts 1. Log-probabilities choose the answer and nothing else
//
func generatorScores(a answer, lp []contract.TokenLogprobs, empty []float64, menuOrder []int, classes int) []float64 {
	out := make([]float64, classes)
	got := letterLogprobs(lp, len(menuOrder))
	if got == nil || len(empty) != len(got) {
		out[menuOrder[strings.Index(letters, a.Class)]] = 1
		return out
	}
	least := math.Inf(1)
	for i := range got {
		out[menuOrder[i]] = got[i] - empty[i]
		least = math.Min(least, out[menuOrder[i]])
	}
	for _, c := range menuOrder[len(got):] {
		out[c] = least // not on the menu, so not for it
	}
	return out
}

// cite names the evidence that speaks for a class: matching signatures, then
// the chunk closest to it, then the line the generator pointed at.
func (v *Investigator) cite(j contract.Job, chunks []Chunk, lines []evidenceLine, ans answer, s *signals, class int) []contract.EvidenceCite {
	out := []contract.EvidenceCite{}
	add := func(item, line int, quote string) {
		it := j.Evidence[item]
		for _, c := range out {
			if c.Ref == it.Ref() {
				return
			}
		}
		out = append(out, contract.EvidenceCite{Ref: it.Ref(), SHA256: it.SHA256, Line: line, Quote: quote})
	}
	for _, ref := range s.sigRefs[class] {
		if i := slices.IndexFunc(j.Evidence, func(e contract.EvidenceItem) bool { return e.Ref() == ref }); i >= 0 {
			line, quote := telling(chunks, s.similarity, i, class)
			add(i, line, quote)
		}
	}
	near := -1
	for i := range s.similarity {
		if near < 0 || s.similarity[i][class] > s.similarity[near][class] {
			near = i
		}
	}
	if near >= 0 {
		c := chunks[near]
		add(c.Item, c.Line, c.lineText(c.Line))
	}
	if len(out) == 0 && ans.Line >= 1 && ans.Line <= len(lines) {
		l := lines[ans.Line-1]
		add(l.item, l.line, l.text)
	}
	return out
}

// telling is the line of an item that is nearest to a class, or the most
// salient one where nothing was embedded; 0 and "" if no stretch was selected.
func telling(chunks []Chunk, similarity [][]float64, item, class int) (int, string) {
	near, top := -1, 0.0
	for i, c := range chunks {
		if c.Item != item {
			continue
		}
		s := c.Salience
		if i < len(similarity) {
			s = similarity[i][class]
		}
		if near < 0 || s > top {
			near, top = i, s
		}
	}
	if near < 0 {
		return 0, ""
	}
	return chunks[near].Line, chunks[near].lineText(chunks[near].Line)
}

// lineText is the text of one of the chunk's lines.
func (c Chunk) lineText(number int) string {
	if i := slices.Index(c.Lines, number); i >= 0 {
		return strings.Split(c.Text, "\n")[i]
	}
	return ""
}

func refsOf(c []contract.EvidenceCite) []string {
	out := make([]string, len(c))
	for i := range c {
		out[i] = c[i].Ref
	}
	return out
}

// provenance says which steps made the statement, from what.
func (v *Investigator) provenance(s *signals) []contract.Provenance {
	out := []contract.Provenance{{Step: "evidence_selection", Source: ID, Digest: v.def.Version}}
	if s.embedModel != "" {
		out = append(out, contract.Provenance{Step: "retrieval_rank", Source: s.embedModel, Digest: s.embedDigest})
	}
	if s.model != "" {
		out = append(out, contract.Provenance{Step: "generate", Source: s.model, Digest: s.modelDigest})
	}
	return out
}

// conflicts lists classes that a signal of its own prefers over the answer
// (F-092): they are shown, never dropped.
func (v *Investigator) conflicts(tax contract.Taxonomy, s *signals, chosen int) []string {
	out := []string{}
	for _, k := range []struct {
		name  string
		score []float64
	}{{"signatures", s.signature}, {"class definitions", s.retrieval}, {"generator", s.generator}} {
		if i := order(k.score, s.insufficient); len(i) > 0 && i[0] != chosen && k.score[i[0]] != 0 {
			out = append(out, fmt.Sprintf("%s prefer %s", k.name, tax.Classes[i[0]].ID))
		}
	}
	return out
}

// PromptDigest is the hash input of everything constant that shapes a prompt
// of this specialist, for the arm's digest.
func PromptDigest() []byte {
	var b bytes.Buffer
	b.WriteString(systemPrompt)
	b.WriteString(prompt(contract.Taxonomy{}, nil, "", nil))
	b.Write(answerSchema(2, 2))
	b.WriteString(wordingSystem)
	b.WriteString(wordingPrompt("", "", ""))
	b.Write(wordingSchema)
	fmt.Fprintf(&b, "%d %d %d %d %d %d %d", predict, topLogprobs, promptBytes, wordingBytes, maxChunks, maxChunkBytes, perItemChunks)
	fmt.Fprintf(&b, "%q", emptyCases)
	return b.Bytes()
}
