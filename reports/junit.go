package reports

import (
	"encoding/xml"
	"io"
	"strconv"
	"time"

	"github.com/fabriccore/assay/scorers"
)

var formatJUnit = Format{
	Name: "junit", File: "junit.xml", Ext: ".xml",
	About:  "one test case a gate, for CI systems",
	Render: writeJUnit,
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Time       string          `xml:"time,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitOutcome `xml:"failure"`
	Skipped *junitOutcome `xml:"skipped"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes one test case for the verdict and one a gate. A gate that
// is open or inconclusive is skipped with its reason: it has not passed, and
// no test was broken either.
func writeJUnit(w io.Writer, d Document, _ Options) error {
	s := junitSuite{Name: orElse(d.Suite.Name, "assay"), Properties: junitProperties(d)}
	if !d.Run.Started.IsZero() {
		s.Timestamp = d.Run.Started.Format("2006-01-02T15:04:05")
		if d.Run.Finished.After(d.Run.Started) {
			s.Time = strconv.FormatFloat(d.Run.Finished.Sub(d.Run.Started).Round(time.Millisecond).Seconds(), 'f', 3, 64)
		}
	}
	why := ""
	for _, r := range whyOf(d) {
		why += "- " + r + "\n"
	}
	s.Cases = append(s.Cases, junitOf("verdict", "verdict: "+words(string(d.Verdict)), d.Verdict, false, meaning(d.Verdict), why))
	for _, g := range d.Result.Gates {
		detail := "observed: " + orDash(g.Observed) + "\nlimit: " + orDash(g.Limit) + "\n"
		if g.Figure != nil {
			detail += "figure: " + full(*g.Figure, raw) + "\n"
		}
		for _, e := range g.Evidence {
			detail += "evidence: " + e + "\n"
		}
		s.Cases = append(s.Cases, junitOf("gate."+orElse(g.Dimension, "other"), g.ID+": "+g.Requires, g.Verdict, g.Open, orElse(g.Why, "no reason given"), detail))
	}
	for _, c := range s.Cases {
		s.Tests++
		if c.Failure != nil {
			s.Failures++
		}
		if c.Skipped != nil {
			s.Skipped++
		}
	}
	all := junitSuites{Name: "assay", Tests: s.Tests, Failures: s.Failures, Skipped: s.Skipped, Suites: []junitSuite{s}}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitOf(class, name string, v scorers.Verdict, open bool, why, detail string) junitCase {
	c := junitCase{Class: class, Name: name}
	switch {
	case open:
		c.Skipped = &junitOutcome{Message: "open: " + why, Text: detail}
	case v == scorers.Qualified:
		c.Out = detail
	case v == scorers.Inconclusive || v == "":
		c.Skipped = &junitOutcome{Message: "inconclusive: " + why, Text: detail}
	default:
		c.Failure = &junitOutcome{Message: why, Type: string(v), Text: detail}
	}
	return c
}

// junitProperties carries the figures that a CI system may want to keep.
func junitProperties(d Document) []junitProperty {
	ps := []junitProperty{
		{"run", d.Run.ID}, {"plan_digest", d.Run.PlanDigest}, {"code_digest", d.Tool.Digest},
		{"verdict", string(d.Verdict)}, {"autonomy_claim", d.AutonomyClaim},
	}
	for _, c := range d.Corpora {
		ps = append(ps, junitProperty{"corpus." + c.Name, orElse(c.Digest, "not frozen")}, junitProperty{"corpus." + c.Name + ".origin", orElse(c.Origin, "not stated")})
	}
	for _, a := range d.Result.Arms {
		ps = append(ps, junitProperty{"accuracy." + a.Arm, full(a.Accuracy, share)})
	}
	for _, r := range d.Result.Ratios {
		ps = append(ps, junitProperty{"latency_ratio." + orElse(r.Name, r.ArmA+"/"+r.ArmB), full(r.Ratio, times)})
	}
	return ps
}
