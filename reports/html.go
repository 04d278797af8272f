package reports

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/fabriccore/assay/scorers"
	"github.com/fabriccore/assay/specialists/contract"
)

var formatHTML = Format{
	Name: "html", File: "report.html", Ext: ".html",
	About:  "one self-contained page with plots and the differing cases",
	Render: writeHTML,
}

//go:embed page
var pageFiles embed.FS

var pageTemplate = template.Must(template.New("report.tmpl").Funcs(template.FuncMap{
	"tone":    func(t tone) string { return string(t) },
	"marked":  citedMark,
	"facts":   caseFacts,
	"answers": caseTable,
	"hard":    hard,
}).ParseFS(pageFiles, "page/*.tmpl"))

// htmlCases bounds the page; the rest stands in document.json.
const htmlCases = 400

// htmlWhy is the number of reasons that stand unfolded.
const htmlWhy = 5

// page is what the template sees. All of it is text that html/template
// escapes; only our own style and script are trusted.
type page struct {
	Style  template.CSS
	Script template.JS
	Policy string // Content-Security-Policy: nothing but our own script runs

	Doc     Document
	Title   string
	Word    string
	Tone    tone
	Meaning string
	Why     []string
	MoreWhy []string // folded
	Figures string   // the scorers' verdict, if the document's is worse
	Drawn   string   // when the report was made

	Dimensions, Gates, Open, Accuracy, Strata, Counts, Comparisons, Latency, Ratios, Safety,
	Posture, Rules, Metrics, Corpora, Identity, Arms, Routes, Power, Looks table

	AccuracyChart, LatencyChart chart
	Matrices                    []matrix
	CasesLead                   string
	Cases                       []scorers.CaseRow
	Taxonomies                  []contract.Taxonomy
	Notes                       []string
}

// matrix is one arm's classes and confusion.
type matrix struct {
	Arm     string
	Classes table
	Columns []string
	Rows    []matrixRow
}

type matrixRow struct {
	Label string
	Cells []heat
}

// heat is one count; Share is its share of the row, 0..100, as CSS wants it.
type heat struct {
	Count int
	Share int
	Right bool // the column is the label
}

func writeHTML(w io.Writer, d Document, _ Options) error {
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	script, err := pageFiles.ReadFile("page/filter.js")
	if err != nil {
		return err
	}
	shown, left := differing(d.Result.Cases, htmlCases)
	p := page{
		Style: template.CSS(style), Script: template.JS(script), Policy: policy(script),
		Doc:   d,
		Title: capital(words(string(d.Verdict))) + ": " + orDash(d.Suite.Name),
		Word:  capital(words(string(d.Verdict))), Tone: verdictTone(d.Verdict), Meaning: meaning(d.Verdict),
		Why: whyOf(d), Drawn: when(d.GeneratedAt),
		Dimensions: dimensionTable(d), Gates: gateTable(d), Open: openTable(d), Accuracy: accuracyTable(d), Strata: strataTable(d),
		Counts: countsTable(d), Comparisons: comparisonTable(d), Latency: latencyTable(d), Ratios: ratioTable(d), Safety: safetyTable(d),
		Posture: postureTable(d), Rules: ruleTable(d), Metrics: metricTable(d), Corpora: corpusTable(d), Identity: identityTable(d),
		Arms: armTable(d), Routes: routeTable(d), Power: powerTable(d), Looks: lookTable(d),
		AccuracyChart: accuracyChart(d), LatencyChart: latencyChart(d),
		CasesLead: casesLead(d, len(shown), left), Cases: shown, Taxonomies: d.Taxonomies,
	}
	if len(p.Why) > htmlWhy {
		p.Why, p.MoreWhy = p.Why[:htmlWhy], p.Why[htmlWhy:]
	}
	if d.Verdict != d.Result.Verdict {
		p.Figures = words(string(d.Result.Verdict))
	}
	for _, a := range d.Result.Arms {
		p.Matrices = append(p.Matrices, matrixOf(a))
	}
	for _, n := range d.Notes {
		p.Notes = append(p.Notes, when(n.At)+" "+n.Level+": "+n.Text)
	}
	return pageTemplate.Execute(w, p)
}

// hard reports whether a cell is too long to stand on one line.
func hard(s string) bool { return twwidth.Width(s) > 44 }

// policy lets the page load nothing and run nothing but our own script, were
// anything ever to slip through the escaping.
func policy(script []byte) string {
	sum := sha256.Sum256(script)
	return strings.Join([]string{
		"default-src 'none'", "style-src 'unsafe-inline'",
		"script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
		"base-uri 'none'", "form-action 'none'",
	}, "; ")
}

func matrixOf(a scorers.ArmScore) matrix {
	m := matrix{Arm: a.Arm, Classes: classTable(a), Columns: a.Confusion.Columns}
	for i, class := range a.Confusion.Classes {
		row := matrixRow{Label: class}
		sum := 0
		for j := range a.Confusion.Columns {
			sum += countAt(a.Confusion, i, j)
		}
		for j, col := range a.Confusion.Columns {
			h := heat{Count: countAt(a.Confusion, i, j), Right: col == class}
			if sum > 0 {
				h.Share = 100 * h.Count / sum
			}
			row.Cells = append(row.Cells, h)
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}
