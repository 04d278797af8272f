package reports

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/fabriccore/assay/scorers"
)

var formatText = Format{
	Name: "text", Ext: ".txt",
	About:  "what a terminal shows: the verdict, why, and the tables",
	Render: writeText,
}

const (
	defaultWidth = 80
	minWidth     = 40
	whyLines     = 5
)

// writeText writes the verdict in one line, then why in at most five, then the
// tables, then where the files are.
func writeText(w io.Writer, d Document, o Options) error {
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	o.Width = max(o.Width, minWidth)
	b := bufio.NewWriter(w)
	p := painter{b, o}

	p.headline(d)
	p.why(d)
	if o.Brief {
		for _, t := range briefTables(d) {
			if err := p.table(t); err != nil {
				return err
			}
		}
		p.rest(d)
		p.provenance(d)
		p.files()
		return b.Flush()
	}
	for _, t := range []table{dimensionTable(d), accuracyTable(d), comparisonTable(d), latencyTable(d), ratioTable(d), safetyTable(d), fullGates(d), fullPosture(d)} {
		if len(t.Rows) == 0 && t.Empty == "" {
			continue
		}
		if err := p.table(t); err != nil {
			return err
		}
	}
	p.openRows(d)
	p.list("Not measured", d.NotMeasured)
	p.list("Left the plan", d.Deviations)
	p.provenance(d)
	p.files()
	return b.Flush()
}

// painter writes text of one width, with or without colour.
type painter struct {
	*bufio.Writer
	o Options
}

var codes = map[tone]string{good: "32", bad: "31", warn: "33", faint: "2", "bold": "1"}

// paint colours every line of s.
func (p painter) paint(s string, t tone) string {
	if !p.o.Color || codes[t] == "" || s == "" {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = "\x1b[" + codes[t] + "m" + l + "\x1b[0m"
		}
	}
	return strings.Join(lines, "\n")
}

// headline is the verdict in one line: it must survive a glance at a log.
func (p painter) headline(d Document) {
	v := cutWidth(strings.ToUpper(words(string(d.Verdict))), p.o.Width/2)
	rest := []string{orDash(d.Suite.Name)}
	if len(d.Exploratory) > 0 {
		rest = append(rest, "exploratory")
	}
	byVerdict := map[scorers.Verdict][]string{}
	for _, m := range d.Dimensions {
		byVerdict[m.Verdict] = append(byVerdict[m.Verdict], m.Name)
	}
	for _, v := range []scorers.Verdict{scorers.Blocked, scorers.Invalid, scorers.NotQualified, scorers.Inconclusive, scorers.Qualified} {
		if names := byVerdict[v]; len(names) > 0 {
			rest = append(rest, words(string(v))+": "+strings.Join(names, ", "))
		}
	}
	line := cutWidth(strings.Join(rest, " · "), p.o.Width-twwidth.Width(v)-2)
	fmt.Fprintf(p, "%s  %s\n", p.bold(v, verdictTone(d.Verdict)), line)
}

func (p painter) bold(s string, t tone) string {
	if !p.o.Color {
		return s
	}
	return "\x1b[1;" + codes[t] + "m" + s + "\x1b[0m"
}

// whyOf lists the reasons, those that decided first.
func whyOf(d Document) []string {
	var first []string
	if d.Result.Infrastructure {
		first = []string{"the infrastructure kept a verdict from being reached"}
	}
	if d.Verdict != d.Result.Verdict {
		first = merge(first, d.Capped)
	}
	return merge(merge(first, d.Reasons), d.Capped)
}

// shortWhy says a reason without what its gate requires, which the table of
// gates says.
func shortWhy(d Document, reason string) string {
	for _, g := range d.Result.Gates {
		if rest, ok := strings.CutPrefix(reason, g.ID+" ("+g.Requires+"): "); ok {
			return g.ID + ": " + rest
		}
	}
	return reason
}

func (p painter) why(d Document) {
	reasons := whyOf(d)
	if len(reasons) == 0 {
		reasons = []string{meaning(d.Verdict)}
	}
	left := whyLines
	for i, r := range reasons {
		r = shortWhy(d, r)
		lines := wrap(r, p.o.Width-4)
		more := i < len(reasons)-1
		if len(lines) > left || more && len(lines) == left {
			if rest := len(reasons) - i; rest > 1 {
				fmt.Fprintf(p, "  … and %d more reasons in the report\n", rest)
			} else {
				fmt.Fprintf(p, "  - %s\n", cutWidth(r, p.o.Width-4))
			}
			break
		}
		left -= len(lines)
		fmt.Fprintf(p, "  - %s\n", strings.Join(lines, "\n    "))
	}
	if d.Verdict == scorers.Inconclusive {
		fmt.Fprintln(p)
		for _, l := range wrap("Inconclusive: "+meaning(d.Verdict), p.o.Width) {
			fmt.Fprintln(p, p.paint(l, warn))
		}
	}
}

func (p painter) title(s string) { fmt.Fprintf(p, "\n%s\n", p.paint(s, "bold")) }

func (p painter) openRows(d Document) {
	if len(d.OpenGates) == 0 {
		return
	}
	p.title("Open rows")
	for _, o := range d.OpenGates {
		lines := wrap(o.ID+": "+orElse(o.Why, "no reason given"), p.o.Width-4)
		fmt.Fprintf(p, "  - %s\n", p.paint(strings.Join(lines, "\n    "), warn))
	}
}

func (p painter) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.title(title)
	for _, s := range items {
		fmt.Fprintf(p, "  - %s\n", strings.Join(wrap(s, p.o.Width-4), "\n    "))
	}
}

// provenance says whose data and which run this is.
func (p painter) provenance(d Document) {
	p.title("Where the figures come from")
	var lines []string
	for _, c := range d.Corpora {
		frozen := orElse(c.Digest, "not frozen")
		lines = append(lines, fmt.Sprintf("Corpus %s v%d: %d cases in %d families; labels: %s; origin: %s; licence: %s; %s",
			c.Name, c.Version, c.Cases, c.Families, orDash(counted(c.Labels)), orElse(c.Origin, "not stated"), orDash(c.Licence), frozen))
	}
	lines = append(lines, fmt.Sprintf("Run %s, plan %s, assay %s, %d planned trials, looks at the frozen corpora so far: %d",
		orDash(d.Run.ID), orDash(d.Run.PlanDigest), orDash(d.Tool.Version), d.Run.Planned, len(d.Looks)))
	if h := host(d.Host); h != "" {
		lines = append(lines, "Host class: "+h)
	}
	for _, l := range lines {
		fmt.Fprintf(p, "  - %s\n", strings.Join(wrap(l, p.o.Width-4), "\n    "))
	}
}

func (p painter) files() {
	if len(p.o.Files) == 0 {
		return
	}
	p.title("Files")
	for _, f := range p.o.Files {
		fmt.Fprintf(p, "  %s\n", visible(filepath.Join(p.o.Dir, f), false))
	}
}

// wrap breaks s into lines of at most width columns, at spaces where it can
// and inside a word where it must.
func wrap(s string, width int) []string {
	width = max(width, 1)
	var lines []string
	line, at := "", 0
	flush := func() {
		if line != "" {
			lines = append(lines, line)
		}
		line, at = "", 0
	}
	for _, word := range glued(s) {
		n := twwidth.Width(word)
		if at > 0 && at+1+n > width {
			flush()
		}
		if at > 0 {
			line, at = line+" "+word, at+1+n
			continue
		}
		for n > width {
			head := headWidth(word, width)
			lines = append(lines, head)
			word = word[len(head):]
			n = twwidth.Width(word)
		}
		line, at = word, n
	}
	flush()
	if len(lines) == 0 {
		lines = []string{""}
	}
	return lines
}

// glued splits at spaces, but leaves a unit with its number.
func glued(s string) []string {
	var out []string
	for _, f := range strings.Fields(s) {
		switch f {
		case "%", "%;", "pp", "pp,", "s", "ms", "µs":
			if n := len(out); n > 0 {
				out[n-1] += " " + f
				continue
			}
		}
		out = append(out, f)
	}
	return out
}

// headWidth is the longest start of s that fits in width columns, at least one
// character.
func headWidth(s string, width int) string {
	at := 0
	for i, r := range s {
		at += twwidth.Width(string(r))
		if at > width && i > 0 {
			return s[:i]
		}
	}
	return s
}

// cutWidth shortens a line to width columns.
func cutWidth(s string, width int) string {
	if twwidth.Width(s) <= width {
		return s
	}
	if width < 2 {
		return ""
	}
	return headWidth(s, width-1) + "…"
}
