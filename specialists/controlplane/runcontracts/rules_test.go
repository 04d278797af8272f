package runcontracts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/fabriccore/assay/specialists/contract"
)

// taxonomy is the shipped one, as far as the rules know it.
func taxonomy(t testing.TB) contract.Taxonomy {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "corpus", "taxonomies", "failure-classes.v1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var tax contract.Taxonomy
	if err := yaml.Unmarshal(raw, &tax); err != nil {
		t.Fatal(err)
	}
	return tax
}

func engine(t testing.TB) *Engine {
	t.Helper()
	e, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func item(source, text string) contract.EvidenceItem {
	return contract.EvidenceItem{ID: "e1", Source: source, Workspace: "ws", MediaType: "text/plain", Text: text,
		SHA256: strings.TrimPrefix(contract.Sum([]byte(text)), "sha256:")}
}

var task = contract.Task{Type: contract.TaskFailureAnalysis}

// Lines as the tools' own documentation and sources print them.
var signatures = map[string][]string{
	"dependency_missing": {
		"ModuleNotFoundError: No module named 'requests'",
		"Error: Cannot find module 'express'",
		"main.c:1:10: fatal error: zlib.h: No such file or directory",
		"/usr/bin/ld: cannot find -lssl: No such file or directory",
		"./app: error while loading shared libraries: libfoo.so.1: cannot open shared object file: No such file or directory",
		"bash: line 3: jq: command not found",
		"ERROR: No matching distribution found for leftpad==9.9",
		"make: *** No rule to make target 'all'.  Stop.",
		"error: no matching package named `serde_jsno` found",
		"main.go:4:2: no required module provides package example.com/x; to add it:",
	},
	"version_conflict": {
		"ERROR: ResolutionImpossible: for help visit https://pip.pypa.io",
		"npm error code ERESOLVE",
		"./app: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by ./app)",
		"go: go.mod requires go >= 1.99 (running go 1.26.0; GOTOOLCHAIN=local)",
		"java.lang.UnsupportedClassVersionError: A has been compiled by a more recent version of the Java Runtime",
		"error: release version 99 not supported",
		"error: failed to select a version for `rand`.",
		"  CMake 9.0 or higher is required.  You are running version 3.28.3",
	},
	"code_defect": {
		"package a: import cycle not allowed",
		"WARNING: DATA RACE",
		"SyntaxError: invalid syntax",
		"./main.go:7:2: undefined: foo",
		"main.c:3:5: error: expected ';' before 'return'",
		"main.c:(.text+0x9): undefined reference to `frobnicate'",
		"error[E0382]: borrow of moved value: `x`",
		"Exception in thread \"main\" java.lang.NullPointerException",
		"bash: -c: line 1: syntax error near unexpected token `)'",
		"Makefile:2: *** missing separator.  Stop.",
	},
	"configuration_invalid": {
		`nginx: [emerg] unknown directive "servr" in /etc/nginx/nginx.conf:1`,
		`FATAL:  unrecognized configuration parameter "shared_bufers"`,
		`npm error Missing script: "biuld"`,
		"KeyError: 'DATABASE_URL'",
		"fatal: 'upstream' does not appear to be a git repository",
		`Get "localhost:80": unsupported protocol scheme "localhost"`,
	},
	"access_denied": {
		"open /etc/shadow: permission denied",
		`FATAL:  password authentication failed for user "app"`,
		"(error) NOAUTH Authentication required.",
		"touch: cannot touch 'x': Read-only file system",
		"git@example.com: Permission denied (publickey).",
	},
	"connectivity": {
		"curl: (6) Could not resolve host: nowhere.invalid",
		"connect ECONNREFUSED 127.0.0.1:5432",
		"curl: (60) SSL certificate problem: certificate has expired",
		"ssh: connect to host h port 22: No route to host",
		"redis.exceptions.ConnectionError: Connection reset by peer",
	},
	"resource_exhausted": {
		"write /tmp/x: no space left on device",
		"java.lang.OutOfMemoryError: Java heap space",
		"accept4: too many open files",
		"FATAL:  sorry, too many clients already",
		"bash: fork: retry: Resource temporarily unavailable",
	},
	"timeout_or_deadlock": {
		"fatal error: all goroutines are asleep - deadlock!",
		"panic: test timed out after 10m0s",
		"ERROR:  canceling statement due to lock timeout",
		"sqlite3.OperationalError: database is locked",
		"context deadline exceeded",
	},
	"data_invalid": {
		"UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 3: invalid continuation byte",
		`ERROR:  duplicate key value violates unique constraint "users_pkey"`,
		"json.decoder.JSONDecodeError: Extra data: line 2 column 1 (char 9)",
		"gzip: data.gz: not in gzip format",
		"ValueError: could not convert string to float: 'n/a'",
	},
	"state_conflict": {
		"listen tcp :8080: bind: address already in use",
		"CONFLICT (content): Merge conflict in main.go",
		"fatal: Unable to create '/r/.git/index.lock': File exists.",
		" ! [rejected]        main -> main (non-fast-forward)",
		`ERROR:  relation "users" already exists`,
	},
}

// F-035: known signatures speak for their class, alone in their item.
func TestF035_Signatures(t *testing.T) {
	e, tax := engine(t), taxonomy(t)
	for class, lines := range signatures {
		for _, l := range lines {
			ev := []contract.EvidenceItem{item("stage_output", "step 1 done\n"+l+"\nexit\n")}
			a := e.Investigate(tax, ev)
			if a.FailureClass != class {
				t.Errorf("%s: %q is taken for %s", class, l, a.FailureClass)
			}
			if len(a.Evidence) > 0 && (a.Evidence[0].Line != 2 || a.Evidence[0].Quote != strings.TrimSpace(l)) {
				t.Errorf("%q is cited as line %d %q", l, a.Evidence[0].Line, a.Evidence[0].Quote)
			}
			if err := contract.Valid(a); err != nil {
				t.Errorf("%q: %v", l, err)
			}
		}
	}
	for _, c := range tax.Classes {
		if c.ID != contract.InsufficientEvidence && len(signatures[c.ID]) < 5 {
			t.Errorf("class %s has %d signatures here", c.ID, len(signatures[c.ID]))
		}
	}
}

// What any stage prints speaks for nothing.
func TestHarmlessLines(t *testing.T) {
	e, tax := engine(t), taxonomy(t)
	for _, l := range []string{"exit code 1", "The stage failed.", "error: command failed", "0 errors, 0 warnings", "make: Nothing to be done for 'all'.", "PASS", "Downloading", ""} {
		if a := e.Investigate(tax, []contract.EvidenceItem{item("stage_output", l)}); a.FailureClass != contract.InsufficientEvidence || len(a.UnresolvedQuestions) != 1 {
			t.Errorf("%q: %+v", l, a)
		}
	}
}

// F-035, F-064: only an uncontested conclusive signature resolves; the verdict
// is typed and agrees with the Phase-0 path.
func TestF035_Verdicts(t *testing.T) {
	e, tax := engine(t), taxonomy(t)
	const conclusive, other, symptom, cause = "ModuleNotFoundError: No module named 'x'", "CONFLICT (content): Merge conflict in a", "make: *** No rule to make target 'x'", "open x: permission denied"
	for name, tc := range map[string]struct {
		text  string
		want  contract.SufficiencyVerdict
		class string
	}{
		"conclusive alone":        {conclusive, contract.SufficiencyResolved, "dependency_missing"},
		"beside a symptom":        {conclusive + "\n./main.go:7:2: undefined: foo", contract.SufficiencyResolved, "dependency_missing"},
		"two conclusive":          {conclusive + "\n" + other, contract.SufficiencySpecialistRequired, ""},
		"beside another cause":    {conclusive + "\n" + cause, contract.SufficiencySpecialistRequired, ""},
		"a symptom alone":         {symptom, contract.SufficiencySpecialistRequired, ""},
		"a cause, not conclusive": {cause, contract.SufficiencySpecialistRequired, ""},
		"nothing known":           {"exit code 1", contract.SufficiencySpecialistRequired, ""},
		"nothing":                 {" \n\t", contract.SufficiencyBlocked, ""},
	} {
		ev := []contract.EvidenceItem{item("stage_output", tc.text)}
		d, err := e.Assess(context.Background(), task, tax, ev)
		if err != nil || d.Verdict != tc.want || (d.RequiredTaskClass != nil) != (d.Verdict == contract.SufficiencySpecialistRequired) {
			t.Errorf("%s: %+v %v", name, d, err)
			continue
		}
		if err := contract.Valid(d); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d.Verdict != contract.SufficiencyResolved {
			continue
		}
		a, err := contract.Decode[contract.FailureAssessment](d.ResolvedResult)
		if err != nil || a.FailureClass != tc.class || a.FailureClass != e.Investigate(tax, ev).FailureClass {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
	d, err := e.Assess(context.Background(), contract.Task{Type: contract.TaskPlanGeneration}, tax, []contract.EvidenceItem{item("stage_output", conclusive)})
	if err != nil || d.Verdict != contract.SufficiencyBlocked || d.ReasonCode != contract.ReasonNoSpecialist {
		t.Errorf("another task: %+v %v", d, err)
	}
}

// A conclusive rule names the cause: else two of them could both resolve.
func TestConclusiveRulesNameCauses(t *testing.T) {
	tax := taxonomy(t)
	for _, r := range engine(t).rules {
		if r.Conclusive && r.Weight != 3 {
			t.Errorf("rule %s is conclusive with weight %d", r.ID, r.Weight)
		}
		if !tax.Has(r.Class) {
			t.Errorf("rule %s names class %s", r.ID, r.Class)
		}
	}
}

// rules say nothing about classes that a taxonomy does not have.
func TestQ23_UnknownClasses(t *testing.T) {
	tax := contract.Taxonomy{Classes: []contract.Class{{ID: "state_conflict"}, {ID: "haus"}, {ID: contract.InsufficientEvidence}}}
	ev := []contract.EvidenceItem{item("stage_output", "ModuleNotFoundError: No module named 'x'\nCONFLICT (content): x")}
	e := engine(t)
	score, refs := e.Score(tax, ev)
	if len(score) != 3 || score[0] <= 0 || score[1] != 0 || score[2] != 0 || !slices.Equal(refs[0], []string{"ws/e1"}) {
		t.Errorf("%v %v", score, refs)
	}
	if d, err := e.Assess(context.Background(), task, tax, ev); err != nil || d.Verdict != contract.SufficiencyResolved {
		t.Errorf("%+v %v", d, err) // the other conclusive line is of no class here
	}
}

// The heaviest match counts three-fold, each further one its weight; a
// conclusive one adds one. Ties keep taxonomy order.
func TestScoreArithmetic(t *testing.T) {
	e, err := Parse([]byte("name: n\nversion: 1\nrules:\n" +
		"- {id: a1, class: a, weight: 3, conclusive: true, pattern: one}\n- {id: a2, class: a, weight: 1, pattern: two}\n" +
		"- {id: b1, class: b, weight: 2, pattern: one}\n- {id: c1, class: c, weight: 2, pattern: one, sources: [config]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	tax := contract.Taxonomy{Classes: []contract.Class{{ID: "c"}, {ID: "b"}, {ID: "a"}}}
	for _, tc := range []struct {
		source, text string
		want         []float64
	}{
		{"stage_output", "one two", []float64{0, 6, 3*3 + 1 + 1}},
		{"stage_output", "TWO", []float64{0, 0, 3}},
		{"config", "one", []float64{6, 6, 10}},
		{"config", "none", []float64{6, 6, 10}},
		{"config", "x", []float64{0, 0, 0}},
	} {
		if got, _ := e.Score(tax, []contract.EvidenceItem{item(tc.source, tc.text)}); !slices.Equal(got, tc.want) {
			t.Errorf("%s %q: %v", tc.source, tc.text, got)
		}
	}
	if a := e.Investigate(tax, []contract.EvidenceItem{item("config", "two one")}); a.FailureClass != "a" || len(a.RootCauseHypotheses) != 3 || a.RootCauseHypotheses[1].FailureClass != "c" {
		t.Errorf("%+v", a)
	}
}

// Rule files are refused with the rule named.
func TestParseErrors(t *testing.T) {
	const head = "name: n\nversion: 1\nrules:\n"
	const good = "- {id: a, class: c, weight: 1, pattern: x}\n"
	for name, tc := range map[string][2]string{
		"unknown key":     {head + "- {id: a, class: c, weight: 1, pattern: x, colour: red}\n", "colour"},
		"unknown top key": {"rulez: []\n" + head + good, "rulez"},
		"not YAML":        {head + "- {id: a", "read rules"},
		"bad pattern":     {head + "- {id: a, class: c, weight: 1, pattern: '('}\n", `"a"`},
		"no pattern":      {head + "- {id: a, class: c, weight: 1}\n", `"a"`},
		"no class":        {head + "- {id: a, weight: 1, pattern: x}\n", `"a"`},
		"no id":           {head + "- {class: c, weight: 1, pattern: x}\n", "rule 1"},
		"twice":           {head + good + good, `"a"`},
		"weight 0":        {head + "- {id: a, class: c, pattern: x}\n", "weight 0"},
		"weight 4":        {head + "- {id: a, class: c, weight: 4, pattern: x}\n", "weight 4"},
	} {
		if _, err := Parse([]byte(tc[0])); err == nil || !strings.Contains(err.Error(), tc[1]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e, err := Parse([]byte(head + good))
	if err != nil || !strings.HasPrefix(e.Digest(), "sha256:") || e.Digest() == engine(t).Digest() {
		t.Errorf("%v", err)
	}
}

func TestClip(t *testing.T) {
	for _, tc := range []struct {
		in   string
		n    int
		want string
	}{{"  a\tb\x1b ", 9, "a b"}, {"äää", 3, "ä"}, {"äää", 1, ""}, {"ab", 2, "ab"}, {"a\xffb", 9, "a?b"}} {
		if got := Clip(tc.in, tc.n); got != tc.want {
			t.Errorf("%q to %d: %q", tc.in, tc.n, got)
		}
	}
}

// A megabyte of evidence is read in bounded time, whatever its lines are like.
func TestMegabytes(t *testing.T) {
	e, tax := engine(t), taxonomy(t)
	var log strings.Builder
	for i := 0; log.Len() < 1<<20; i++ {
		fmt.Fprintf(&log, "2026-01-01T00:00:%02d INFO worker %d finished the step in %d ms\n", i%60, i, i*7)
	}
	for name, text := range map[string]string{
		"lines": log.String(), "one line": strings.Repeat("error: module ", 1<<16), "empty lines": strings.Repeat("\n", 1<<20),
		"near misses":   strings.Repeat("no rule to make targe\nconnection refuse\npermission denie\n", 1<<14),
		"invalid UTF-8": strings.Repeat("\xff\xfe", 1<<19), "open quotes": strings.Repeat(`KeyError: 'AAAA`, 1<<16),
	} {
		began := time.Now()
		e.Matches(tax, []contract.EvidenceItem{item("stage_output", text)})
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

func BenchmarkMatchesMegabyte(b *testing.B) {
	e, tax := engine(b), taxonomy(b)
	ev := []contract.EvidenceItem{item("stage_output", strings.Repeat("2026-01-01 INFO worker finished the step compile of module core in 7 ms\n", 1<<20/72))}
	for b.Loop() {
		e.Matches(tax, ev)
	}
}
