package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/fabriccore/assay/scorers"
	"github.com/fabriccore/assay/specialists/contract"
)

var formatMarkdown = Format{
	Name: "markdown", File: "report.md", Ext: ".md",
	About:  "the whole report for a repository or a CI step summary",
	Render: writeMarkdown,
}

const (
	mdCases    = 40   // differing cases with their evidence
	mdEvidence = 1500 // characters of one evidence item
	mdCell     = 600
)

// writeMarkdown writes GitHub-flavoured Markdown.
func writeMarkdown(w io.Writer, d Document, _ Options) error {
	b := bufio.NewWriter(w)
	m := md{b}
	m.head(d)
	m.table(2, gateTable(d))
	m.table(2, openTable(d))
	m.table(2, accuracyTable(d))
	m.table(3, strataTable(d))
	m.table(3, comparisonTable(d))
	m.table(3, countsTable(d))
	m.table(2, latencyTable(d))
	m.table(3, ratioTable(d))
	m.table(2, safetyTable(d))
	m.table(2, postureTable(d))
	m.table(2, ruleTable(d))
	m.classes(d)
	m.cases(d)
	m.list("What was not measured", d.NotMeasured, "The run names nothing that it left unmeasured; the fifteen metrics below do.")
	m.table(2, metricTable(d))
	m.heading(2, "Provenance")
	for _, t := range []table{corpusTable(d), identityTable(d), armTable(d), routeTable(d), powerTable(d), lookTable(d)} {
		m.table(3, t)
	}
	m.taxonomies(d.Taxonomies)
	if len(d.Deviations) > 0 {
		m.list("Deviations from the plan", d.Deviations, "")
	}
	if len(d.Notes) > 0 {
		lines := make([]string, len(d.Notes))
		for i, n := range d.Notes {
			lines[i] = when(n.At) + " " + n.Level + ": " + n.Text
		}
		m.list("Notes from the run", lines, "")
	}
	m.list("How to read this", d.HowToRead, "")
	return b.Flush()
}

// md writes Markdown blocks; what it is given is escaped here and nowhere else.
type md struct{ *bufio.Writer }

func (m md) heading(level int, s string) {
	fmt.Fprintf(m, "\n%s %s\n", strings.Repeat("#", level), mdText(s))
}

func (m md) head(d Document) {
	fmt.Fprintf(m, "# %s %s: %s\n\n", verdictSign(d.Verdict), mdText(capital(words(string(d.Verdict)))), mdText(orDash(d.Suite.Name)))
	fmt.Fprintf(m, "%s\n", mdText(meaning(d.Verdict)))
	if reasons := whyOf(d); len(reasons) > 0 {
		m.heading(2, "Why")
		m.bullets(reasons)
	}
	if d.Verdict != d.Result.Verdict {
		fmt.Fprintf(m, "\nThe figures alone came to **%s**; the document allows no better than **%s**.\n", mdText(words(string(d.Result.Verdict))), mdText(words(string(d.Verdict))))
	}
	if len(d.Exploratory) > 0 {
		m.heading(2, "Exploratory run: it can't certify")
		m.bullets(d.Exploratory)
	}
	m.table(2, dimensionTable(d))
}

func verdictSign(v scorers.Verdict) string {
	switch verdictTone(v) {
	case good:
		return "✅"
	case warn:
		return "🟡"
	}
	return "❌"
}

func (m md) bullets(items []string) {
	fmt.Fprintln(m)
	for _, s := range items {
		fmt.Fprintf(m, "- %s\n", mdText(cut(s, mdCell)))
	}
}

func (m md) list(title string, items []string, empty string) {
	m.heading(2, title)
	if len(items) == 0 {
		fmt.Fprintf(m, "\n%s\n", mdText(empty))
		return
	}
	m.bullets(items)
}

func (m md) table(level int, t table) {
	m.heading(level, t.Title)
	m.rows(t)
}

func (m md) rows(t table) {
	if len(t.Rows) == 0 {
		fmt.Fprintf(m, "\n%s\n", mdText(t.Empty))
		return
	}
	if t.Lead != "" {
		fmt.Fprintf(m, "\n%s\n", mdText(t.Lead))
	}
	fmt.Fprint(m, "\n|")
	for _, c := range t.Columns {
		fmt.Fprintf(m, " %s |", mdText(c.Name))
	}
	fmt.Fprint(m, "\n|")
	for _, c := range t.Columns {
		if c.Right {
			fmt.Fprint(m, " ---: |")
		} else {
			fmt.Fprint(m, " --- |")
		}
	}
	fmt.Fprintln(m)
	for _, r := range t.Rows {
		fmt.Fprint(m, "|")
		for _, c := range r {
			fmt.Fprintf(m, " %s |", mdCellText(c))
		}
		fmt.Fprintln(m)
	}
	if n := t.Notes(); len(n) > 0 {
		m.bullets(n)
	}
}

func mdCellText(c cell) string {
	s := mdText(cut(c.Main, mdCell))
	if c.Tone == bad || c.Tone == warn {
		s = "**" + s + "**"
	}
	if c.Sub != "" {
		s += " " + mdText(cut(c.Sub, mdCell))
	}
	return s
}

func (m md) classes(d Document) {
	m.heading(2, "By class")
	if len(d.Result.Arms) == 0 {
		fmt.Fprint(m, "\nNo arm was scored.\n")
	}
	for _, a := range d.Result.Arms {
		fmt.Fprintf(m, "\n<details><summary>%s</summary>\n", mdText(a.Arm))
		m.rows(classTable(a))
		if len(a.Confusion.Classes) > 0 {
			fmt.Fprint(m, "\nRows are labels, columns are answers.\n")
			m.rows(confusionTable(a.Confusion))
		}
		fmt.Fprint(m, "\n</details>\n")
	}
}

// cases shows where the arms differ: the label, every arm's answer, and the
// evidence folded below.
func (m md) cases(d Document) {
	m.heading(2, "Cases where the arms differ")
	shown, left := differing(d.Result.Cases, mdCases)
	fmt.Fprintf(m, "\n%s\n", mdText(casesLead(d, len(shown), left)))
	for _, c := range shown {
		m.heading(3, c.Case)
		m.rows(caseTable(c))
		if len(c.Evidence) == 0 {
			continue
		}
		fmt.Fprint(m, "\n<details><summary>Evidence</summary>\n")
		for _, e := range c.Evidence {
			fmt.Fprintf(m, "\n%s\n", mdText(e.ID+" ("+e.Source+", "+e.MediaType+")"+citedMark(c, e)))
			body := cut(strings.TrimRight(e.Text, "\n"), mdEvidence)
			fence := strings.Repeat("`", max(3, longestRun(body, '`')+1))
			fmt.Fprintf(m, "\n%stext\n%s\n%s\n", fence, body, fence)
		}
		fmt.Fprint(m, "\n</details>\n")
	}
}

func (m md) taxonomies(ts []contract.Taxonomy) {
	for _, t := range ts {
		tab := table{Title: fmt.Sprintf("Classes of %s v%d", t.Name, t.Version), Columns: []column{{Name: "class"}, {Name: "means"}}, Empty: "No class."}
		for _, c := range t.Classes {
			tab.Rows = append(tab.Rows, []cell{text(c.ID), text(orElse(c.Gloss, c.Definition))})
		}
		m.table(3, tab)
	}
}

func longestRun(s string, of rune) int {
	best, n := 0, 0
	for _, r := range s {
		if r == of {
			n++
			best = max(best, n)
		} else {
			n = 0
		}
	}
	return best
}

// mdText escapes a string for running text and table cells: nothing in it is
// markup, HTML, a link, a mention or a reference to an issue.
func mdText(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch r {
		case '\n', '\t':
			b.WriteByte(' ')
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '@':
			b.WriteString("&#64;")
		case '\\', '`', '*', '_', '[', ']', '|', '~', '#', '$', '!':
			b.WriteByte('\\')
			b.WriteRune(r)
		case ':':
			if strings.HasPrefix(s[i:], "://") {
				b.WriteString("&#58;")
			} else {
				b.WriteRune(r)
			}
		case '.':
			if i >= 3 && strings.EqualFold(s[i-3:i], "www") {
				b.WriteString("&#46;")
			} else {
				b.WriteRune(r)
			}
		case '-', '+', '=':
			if i == 0 && (r != '+' || strings.HasPrefix(s[1:], " ")) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	out := b.String()
	// "1." or "1)" at the start would open a list.
	if n := len(out) - len(strings.TrimLeft(out, "0123456789")); n > 0 && n < len(out) && (out[n] == '.' || out[n] == ')') && (n+1 == len(out) || out[n+1] == ' ') {
		out = out[:n] + "\\" + out[n:]
	}
	return out
}
