package reports

import (
	"bytes"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// hostileText holds what a failing tool could print to break out of a page.
const hostileText = "</pre></td></table></details><script>alert(1)</script><img src=x onerror=alert(2)>" +
	"\x1b[31mred\x1b[2J\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\u009b31m\x00\x07\x7f\r" +
	"\u202Egnp.exe\u2066\u200b\ufeff\u2028 ]]> --> \" ' & `code` ```` | a | [x](http://evil.example) ![i](x) @someone #12 www.evil.example $x$ {{.}} </title></svg>"

// hostile makes every string of the sample hostile: names, ids, keys, reasons
// and evidence.
func hostile() Document {
	long := strings.Repeat("W", 3000)
	d := Build(sampleInput())
	return rewriter{
		str: func(s string) string {
			if s == "" {
				return "" // an empty string has a meaning of its own
			}
			return s + hostileText
		},
		text: func(s string) string { return s + "\n" + hostileText + "\n````\n~~~\n</details>\n" + long + "\n" },
	}.document(d)
}

var noControls = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

func render(t *testing.T, format string, d Document, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, format, d, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHostileNoControls: no format lets a control character, an escape
// sequence or a direction mark through (H-018).
func TestHostileNoControls(t *testing.T) {
	d := hostile()
	for _, f := range Formats() {
		out := render(t, f.Name, d, Options{Width: 80})
		if at := noControls.FindStringIndex(out); at != nil {
			t.Errorf("%s: control character %q at %q", f.Name, out[at[0]:at[1]], out[max(0, at[0]-40):at[0]])
		}
		if !strings.Contains(out, "alert(1)") {
			t.Errorf("%s: the hostile text is not shown at all", f.Name)
		}
	}
}

// TestHostileHTML: nothing but the template's own markup is markup.
func TestHostileHTML(t *testing.T) {
	out := render(t, "html", hostile(), Options{})
	clean := render(t, "html", Build(sampleInput()), Options{})
	for _, tag := range []string{"<script", "<img", "<a ", "</pre>", "</svg>", "</title>", "<style", "<details", "</table>", "<td", "<th"} {
		if got, want := strings.Count(out, tag), strings.Count(clean, tag); got != want {
			t.Errorf("%d times %q, want %d as without hostile text", got, tag, want)
		}
	}
	for _, s := range []string{"http://", "https://", "url(", "@import"} {
		if strings.Contains(clean, s) {
			t.Errorf("the page refers to something outside of it: %q", s)
		}
	}
	if strings.Contains(out, "ZgotmplZ") {
		t.Error("html/template refused a value")
	}
}

// TestHostileMarkdown: no HTML but our own folds, no link, no mention, and no
// table that gains a column.
func TestHostileMarkdown(t *testing.T) {
	out := render(t, "markdown", hostile(), Options{})
	fence := ""
	columns := 0
	link := regexp.MustCompile(`(^|[^\\])\]\(`)
	bar := regexp.MustCompile(`(^|[^\\])\|`)
	for n, line := range strings.Split(out, "\n") {
		if fence != "" {
			if line == fence {
				fence = ""
			}
			continue
		}
		if ticks := len(line) - len(strings.TrimLeft(line, "`")); ticks >= 3 {
			fence = line[:ticks]
			continue
		}
		if link.MatchString(line) {
			t.Fatalf("line %d holds a link: %.200q", n+1, line)
		}
		own := strings.NewReplacer("<details>", "", "</details>", "", "<summary>", "", "</summary>", "").Replace(line)
		if strings.ContainsAny(own, "<>") {
			t.Fatalf("line %d holds HTML: %.200q", n+1, line)
		}
		for _, s := range []string{"://", "www.", "@s", " #1"} {
			if strings.Contains(line, s) {
				t.Fatalf("line %d holds %q: %.200q", n+1, s, line)
			}
		}
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		if got := len(bar.FindAllString(line, -1)); columns == 0 {
			columns = got
		} else if got != columns {
			t.Fatalf("line %d has %d bars, its table %d: %.200q", n+1, got, columns, line)
		}
	}
	if fence != "" {
		t.Error("a code block is not closed")
	}
}

// TestHostileTerminal: every line fits, and the only escape sequences are our
// own colours.
func TestHostileTerminal(t *testing.T) {
	sgr := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for name, d := range map[string]Document{"hostile": hostile(), "sample": Build(sampleInput())} {
		for _, width := range []int{40, 80, 200} {
			out := render(t, "text", d, Options{Width: width, Color: true})
			if rest := sgr.ReplaceAllString(out, ""); strings.Contains(rest, "\x1b") {
				t.Errorf("%s: an escape sequence that is not a colour", name)
			}
			for _, line := range strings.Split(sgr.ReplaceAllString(out, ""), "\n") {
				if w := twwidth.Width(line); w > width {
					t.Errorf("%s at %d columns: a line of %d: %.120q", name, width, w, line)
				}
			}
		}
	}
}

// TestHostileJUnit: well-formed XML with as many cases as gates and a verdict.
func TestHostileJUnit(t *testing.T) {
	d := hostile()
	dec := xml.NewDecoder(strings.NewReader(render(t, "junit", d, Options{})))
	n := 0
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := tok.(xml.StartElement); ok && s.Name.Local == "testcase" {
			n++
		}
	}
	if want := len(d.Result.Gates) + 1; n != want {
		t.Errorf("%d test cases, want %d", n, want)
	}
}

// TestHostileJSON: what acts on a terminal is escaped, and nothing is lost.
func TestHostileJSON(t *testing.T) {
	in := sampleInput()
	for i := range in.Result.Cases {
		in.Result.Cases[i].Evidence[0].Text += hostileText
		in.Result.Cases[i].Cause += hostileText + "\U000E0041"
	}
	d := Build(in)
	out := render(t, "json", d, Options{})
	back, err := Read(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, back, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("reading back changed the document (-was +is):\n%s", diff)
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31;1mb\x1b[0mc":             "abc",
		"a\x1b]0;title\x07b":               "ab",
		"a\x1b]8;;x\x1b\\b":                "ab",
		"a\x1b]never ends\nnext":           "a next",
		"a\u009b31mb":                      "ab",
		"\x1b\x1b[31m[31mx":                "[31mx",
		"a\u202eb":                         "a[U+202E]b",
		"a\x00b":                           "a[U+0000]b",
		"bad\xffbyte":                      "bad\uFFFDbyte",
		"one\ttwo\r\nthree\rfour ":         "one two three four",
		"e" + strings.Repeat("\u0301", 50): "e" + strings.Repeat("\u0301", 3),
		"⚠\ufe0f ok":                       "⚠ ok",
	} {
		if got := visible(in, false); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := visible("a\tb\r\nc\rd\n", true), "a\tb\nc\nd\n"; got != want {
		t.Errorf("with lines: %q, want %q", got, want)
	}
}

func FuzzVisible(f *testing.F) {
	f.Add(hostileText)
	f.Fuzz(func(t *testing.T, s string) {
		out := visible(s, true)
		if noControls.MatchString(out) {
			t.Errorf("visible(%q) = %q", s, out)
		}
		if again := visible(out, true); again != out {
			t.Errorf("not stable: %q, then %q", out, again)
		}
	})
}
