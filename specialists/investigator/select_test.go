package investigator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fabriccore/assay/specialists/contract"
)

func item(id, source, text string) contract.EvidenceItem {
	return contract.EvidenceItem{ID: id, Source: source, Workspace: "ws", MediaType: "text/plain", Text: text}
}

// anyText draws what a tool could print: words, faults, control characters,
// broken UTF-8, empty and huge lines.
var anyText = rapid.Custom(func(t *rapid.T) string {
	line := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", " ", "error: disk full", "step 1 done", "step 2 done", "\x1b[31mFAILED\x1b[0m", "\xff\xfe", "a\rb", "\u2028forged\u2029", "panic: x", "}", `{"class":"A"}`}),
		rapid.Map(rapid.IntRange(0, 20000), func(n int) string { return strings.Repeat("é", n) }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 600), func(b []byte) string { return string(b) }),
	)
	sep := rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(t, "separator")
	return strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), sep)
})

var anyEvidence = rapid.Custom(func(t *rapid.T) []contract.EvidenceItem {
	var ev []contract.EvidenceItem
	for i := range rapid.IntRange(0, 6).Draw(t, "items") {
		ev = append(ev, item(fmt.Sprintf("e%d", i+1), rapid.SampledFrom([]string{"stage_record", "stage_output", "service_log", "config"}).Draw(t, "source"), anyText.Draw(t, "text")))
	}
	return ev
})

// H-017: whatever the evidence, the selection is the same each time, within
// its bounds, printable, in evidence order, and every line says truly where it
// stands.
func TestSelectIsBoundedAndDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ev := anyEvidence.Draw(t, "evidence")
		got := Select(ev)
		if len(got) > maxChunks {
			t.Fatalf("%d chunks", len(got))
		}
		perItem := map[int]int{}
		for i, c := range got {
			if perItem[c.Item]++; perItem[c.Item] > perItemChunks {
				t.Fatalf("%d chunks of item %d", perItem[c.Item], c.Item)
			}
			if c.Text == "" || len(c.Text) > chunkCap || !utf8.ValidString(c.Text) {
				t.Fatalf("chunk %d of %d bytes: %q", i, len(c.Text), c.Text)
			}
			if i > 0 && (got[i-1].Item > c.Item || got[i-1].Item == c.Item && got[i-1].Line >= c.Line) {
				t.Fatalf("chunks out of order: %d/%d after %d/%d", c.Item, c.Line, got[i-1].Item, got[i-1].Line)
			}
			lines := strings.Split(c.Text, "\n")
			if len(lines) != len(c.Lines) || !slices.Contains(c.Lines, c.Line) {
				t.Fatalf("line %d is not among %v of %q", c.Line, c.Lines, c.Text)
			}
			raw := strings.Split(strings.ReplaceAll(ev[c.Item].Text, "\r\n", "\n"), "\n")
			for k, l := range lines {
				if strings.IndexFunc(l, unicode.IsControl) >= 0 || strings.ContainsAny(l, "\u2028\u2029") || len(l) > maxLineBytes {
					t.Fatalf("line %q", l)
				}
				if src := raw[c.Lines[k]-1]; len(src) < 200 && l != clean(src) {
					t.Fatalf("line %d is %q, cited as %q", c.Lines[k], src, l)
				}
			}
		}
		again := Select(slices.Clone(ev))
		if fmt.Sprint(got) != fmt.Sprint(again) {
			t.Fatal("two selections of the same evidence")
		}
		size := 0
		for _, l := range promptLines(ev, got, promptBytes) {
			size += len(l.text)
			if strings.ContainsAny(l.text, "\n\r") {
				t.Fatalf("prompt line %q", l.text)
			}
		}
		if size > promptBytes {
			t.Fatalf("%d bytes of evidence in the prompt", size)
		}
	})
}

// The line that names the fault is kept, wherever it stands and whatever
// surrounds it.
func TestSelectKeepsTellingLines(t *testing.T) {
	const telling = "error: could not lock config file .git/config: File exists"
	noise := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "2026-01-01T00:00:%02d compiled unit %d of the project\n", i%60, i)
		}
		return b.String()
	}
	long := strings.Repeat("n", 220)
	for name, text := range map[string]string{
		"first":                    telling + "\n" + noise(500),
		"middle":                   noise(500) + telling + "\n" + noise(500),
		"last":                     noise(500) + telling,
		"alone":                    telling,
		"windows line ends":        strings.ReplaceAll(noise(50)+telling+"\n"+noise(50), "\n", "\r\n"),
		"among long lines":         long + "\n" + long + "\n" + telling + "\n" + long + "\n" + long,
		"after a short and a long": strings.Repeat("m", 239) + "\n" + strings.Repeat("k", 100) + "\n" + telling + strings.Repeat(" x", 70),
		"at the end of a huge one": strings.Repeat("z ", 1<<19) + telling,
		"at its beginning":         telling + strings.Repeat(" z", 1<<19),
		"with escapes":             noise(30) + "\x1b[31m" + telling + "\x1b[0m\n" + noise(30),
		"repeated":                 strings.Repeat(telling+"\n", 50),
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range Select([]contract.EvidenceItem{item("e1", "stage_output", text)}) {
				if strings.Contains(c.Text, "could not lock config file") || strings.Contains(c.Text, "error: could not") {
					return
				}
			}
			t.Error("the telling line is not selected")
		})
	}
}

// An item that repeats itself has said one thing, which may be the cause.
func TestSelectKeepsPureRepetition(t *testing.T) {
	got := Select([]contract.EvidenceItem{item("e1", "stage_record", "{}"), item("e2", "service_log", strings.Repeat("still holding on\n", 40))})
	if len(got) != 1 || got[0].Line != 40 || !strings.HasPrefix(got[0].Text, "still holding on") {
		t.Errorf("got %+v", got)
	}
	if got := Select([]contract.EvidenceItem{item("e1", "config", "\n \n\t\n")}); len(got) != 0 {
		t.Errorf("nothing gave %+v", got)
	}
}

// The stage record is put into words elsewhere, unless it is all there is.
func TestSelectStageRecord(t *testing.T) {
	rec := item("e1", "stage_record", `{"stage":"build","exit_code":1}`)
	if got := Select([]contract.EvidenceItem{rec}); len(got) != 1 {
		t.Errorf("alone: %+v", got)
	}
	for _, c := range Select([]contract.EvidenceItem{rec, item("e2", "stage_output", "error: x")}) {
		if c.Item == 0 {
			t.Error("the record was selected beside other evidence")
		}
	}
}

// Megabytes of evidence cost time in proportion to their size.
func TestSelectOfMegabytes(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "2026-01-01 worker %d finished the step compile of module core in %d ms\n", i, i*7)
	}
	for name, text := range map[string]string{
		"many lines":    b.String(),
		"one line":      strings.Repeat("error ", 1<<18),
		"empty lines":   strings.Repeat("\n", 1<<20),
		"no line end":   strings.Repeat("\x00", 1<<20),
		"unlike lines":  strings.Repeat("a", 1<<10) + strings.Join(strings.Split(b.String(), "core")[:2000], "\n"),
		"invalid UTF-8": strings.Repeat("\xff", 1<<20),
	} {
		began := time.Now()
		Select([]contract.EvidenceItem{item("e1", "stage_output", text)})
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

func BenchmarkSelectMegabyte(b *testing.B) {
	var s strings.Builder
	for i := 0; s.Len() < 1<<20; i++ {
		fmt.Fprintf(&s, "2026-01-01 worker %d finished the step compile of module core in %d ms\n", i, i*7)
	}
	ev := []contract.EvidenceItem{item("e1", "stage_output", s.String())}
	for b.Loop() {
		Select(ev)
	}
}
