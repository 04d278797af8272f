package phase0

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fabriccore/assay/specialists/contract"
)

var tax = contract.Taxonomy{Name: "t", Version: 1, Classes: []contract.Class{
	{ID: "disk", Gloss: "The disk has  no\nspace left."}, {ID: "port", Gloss: "A port is in use."}, {ID: contract.InsufficientEvidence, Gloss: "Not shown."},
}}

func items(n int, text string) []contract.EvidenceItem {
	var ev []contract.EvidenceItem
	for i := range n {
		ev = append(ev, contract.EvidenceItem{ID: fmt.Sprintf("e%d", i+1), Source: []string{"stage_output", "config"}[i%2], Workspace: "ws", Text: text})
	}
	return ev
}

// the bare path is an honest attempt: it sees every class with its
// definition and every evidence item, and the whole evidence where it fits.
func TestQ24_PromptHoldsClassesAndItems(t *testing.T) {
	ev := items(5, "no space left on device")
	p := barePrompt(4096, contract.Task{Goal: "Find the cause."}, tax, ev)
	for _, want := range []string{"Task: Find the cause.", "- disk: The disk has no space left.\n", "- port: A port is in use.\n", "- insufficient_evidence: Not shown.\n"} {
		if !strings.Contains(p, want) {
			t.Errorf("no %q in %s", want, p)
		}
	}
	for _, it := range ev {
		if !strings.Contains(p, fmt.Sprintf("\nEvidence %s (%s):\n%s\n", it.ID, it.Source, it.Text)) {
			t.Errorf("no item %s in %s", it.ID, p)
		}
	}
}

// Logs keep their end, everything else its beginning.
func TestCut(t *testing.T) {
	long := "first " + strings.Repeat("x", 100) + " last"
	for source, want := range map[string]string{"stage_output": "[…]x last", "service_log": "[…]x last", "config": "first […]", "environment": "first […]"} {
		if got := cut(contract.EvidenceItem{Source: source, Text: long}, 6); got != want {
			t.Errorf("%s: %q", source, got)
		}
	}
	if got := cut(contract.EvidenceItem{Source: "config", Text: "ää"}, 3); got != "ä[…]" {
		t.Errorf("%q", got)
	}
}

// The prompt fits its budget whatever the evidence: one and a half bytes a
// token of evidence, two of the menu, and it never panics.
func TestPromptFitsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 64).Draw(t, "items") // as many as the gateway lets through
		ev := items(n, "")
		for i := range ev {
			ev[i].Text = rapid.OneOf(rapid.String(), rapid.Map(rapid.IntRange(0, 5000), func(k int) string { return strings.Repeat("ä\xff\n", k) })).Draw(t, "text")
		}
		numCtx := rapid.SampledFrom([]int{0, 512, 2048, 4096, 8192}).Draw(t, "num_ctx")
		p := barePrompt(numCtx, contract.Task{Goal: "g"}, tax, ev)
		menu := len(barePrompt(numCtx, contract.Task{Goal: "g"}, tax, nil))
		// Each cut item adds its mark, and invalid bytes may grow at a cut.
		if got, most := len(p)-menu, max(evidenceBytes(numCtx, menu), 2500)+headingBytes+200+n*len("[…]"); got > most {
			t.Fatalf("%d bytes of evidence and headings for num_ctx %d, at most %d", got, numCtx, most)
		}
		for _, it := range ev {
			if !strings.Contains(p, "\nEvidence "+it.ID+" (") {
				t.Fatalf("item %s is missing", it.ID)
			}
		}
	})
}

// F-060: only exactly the asked-for object is read.
func TestF060_ParseBare(t *testing.T) {
	ev := items(2, "x")
	good := `{"failure_class":"disk","evidence":"e2","cause":"full"}`
	a, err := parseBare(good, tax, ev)
	if err != nil || a.FailureClass != "disk" || a.Evidence[0].Ref != "ws/e2" || a.RootCauseHypotheses[0].Cause != "full" {
		t.Fatalf("%+v %v", a, err)
	}
	if err := contract.Valid(a); err != nil {
		t.Error(err)
	}
	if _, err := parseBare(" \n"+good+"\n", tax, ev); err != nil {
		t.Errorf("space around the object: %v", err)
	}
	for name, text := range map[string]string{
		"empty": "", "null": "null", "array": "[" + good + "]", "prose before": "Here: " + good, "prose after": good + " done", "fenced": "```json\n" + good + "\n```",
		"two": good + good, "truncated": good[:30], "extra key": strings.Replace(good, "{", `{"confidence":1,`, 1),
		"missing key": `{"failure_class":"disk","evidence":"e2"}`, "doubled key": strings.Replace(good, "{", `{"failure_class":"port",`, 1),
		"other case": strings.Replace(good, "failure_class", "Failure_Class", 1), "wrong type": strings.Replace(good, `"disk"`, `["disk"]`, 1),
		"null class": strings.Replace(good, `"disk"`, `null`, 1), "other class": strings.Replace(good, "disk", "memory", 1),
		"other item": strings.Replace(good, "e2", "e3", 1), "item by ref": strings.Replace(good, "e2", "ws/e2", 1),
		"no cause": strings.Replace(good, "full", "", 1), "long cause": strings.Replace(good, "full", strings.Repeat("x", maxCause+1), 1),
		"not UTF-8": strings.Replace(good, "full", "\xff", 1),
	} {
		if a, err := parseBare(text, tax, ev); !errors.Is(err, ErrOutput) || len(a.Evidence) > 0 {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
}

// one is a model that maps some profiles and answers once.
type one struct {
	has   []contract.Profile
	text  string
	err   error
	asked []contract.GenerateRequest
}

func (m *one) Has(p contract.Profile) bool {
	for _, h := range m.has {
		if h == p {
			return true
		}
	}
	return false
}

func (m *one) Generate(_ context.Context, q contract.GenerateRequest) (contract.GenerateResult, error) {
	m.asked = append(m.asked, q)
	return contract.GenerateResult{Text: m.text, Call: contract.CallRecord{Model: "m", ModelDigest: "d"}}, m.err
}

func (m *one) Embed(context.Context, contract.EmbedRequest) (contract.EmbedResult, error) {
	panic("the bare path embeds nothing")
}

// exactly one schema-constrained call, of the same generator as the
// stack's.
func TestQ24_OneCall(t *testing.T) {
	ev := items(1, "x")
	for _, tc := range []struct{ has, want contract.Profile }{{contract.ProfileBalancedReason, contract.ProfileBalancedReason}, {contract.ProfileFastExtract, contract.ProfileFastExtract}} {
		m := &one{has: []contract.Profile{tc.has}, text: `{"failure_class":"disk","evidence":"e1","cause":"full"}`}
		a, call, err := Bare(context.Background(), m, 4096, contract.Task{}, tax, ev)
		if err != nil || len(m.asked) != 1 || m.asked[0].Profile != tc.want || call.Model != "m" || len(a.Provenance) != 1 {
			t.Fatalf("%+v %v", a, err)
		}
		if err := contract.Valid(a); err != nil {
			t.Error(err)
		}
		var s struct {
			Properties map[string]struct{ Enum []string }
		}
		if err := json.Unmarshal(m.asked[0].Schema, &s); err != nil || len(s.Properties["failure_class"].Enum) != 3 || len(s.Properties["evidence"].Enum) != 1 {
			t.Errorf("schema %s", m.asked[0].Schema)
		}
	}
	down := errors.New("down")
	if _, _, err := Bare(context.Background(), &one{err: down}, 4096, contract.Task{}, tax, ev); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
}

// The digest of the constant parts moves with the schema, not with a case.
func TestPromptDigest(t *testing.T) {
	if d := string(PromptDigest()); !strings.Contains(d, bareSystem) || !strings.Contains(d, "additionalProperties") || d != string(PromptDigest()) {
		t.Error(d)
	}
}
