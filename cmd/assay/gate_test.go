package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fabriccore/assay/scorers"
)

// H-008, Q-42: every verdict has its exit code, and an unknown one never 0.
func TestVerdictCode(t *testing.T) {
	for _, c := range []struct {
		v     scorers.Verdict
		infra bool
		want  int
	}{
		{scorers.Qualified, false, 0}, {scorers.NotQualified, false, 1}, {scorers.Inconclusive, false, 3},
		{scorers.Inconclusive, true, 5}, {scorers.Blocked, false, 4}, {scorers.Blocked, true, 4}, {scorers.Invalid, false, 6}, {"", false, 3},
	} {
		if got := verdictCode(scorers.Result{Verdict: c.v, Infrastructure: c.infra}); got != c.want {
			t.Errorf("%q (infrastructure %v) ends with %d, want %d", c.v, c.infra, got, c.want)
		}
	}
}

func TestPrintGates(t *testing.T) {
	var out bytes.Buffer
	st := &state{Stdout: &out}
	r := scorers.Result{Verdict: scorers.Inconclusive, Reasons: []string{"G2: not yet"},
		Gates: []scorers.Gate{{ID: "G2", Verdict: scorers.Inconclusive, Open: true, Why: "not\nyet"}}}
	if err := printGates(st, r); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "G2") || !strings.Contains(got, "inconclusive (open)") || !strings.Contains(got, "not yet") {
		t.Errorf("printed %q", got)
	}
}
