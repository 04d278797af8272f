package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/journal"
)

// runCommand executes one of the run commands with its own state folder.
func runCommand(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errw bytes.Buffer
	st := &state{
		Args: args, Env: env, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errw, Width: 100, Now: time.Now,
		StateDir: t.TempDir(),
	}
	root := newRoot(st)
	for _, c := range root.Commands() { // the tree may or may not have them yet
		if slices.Contains([]string{"run", "resume", "journal", "runs", "suite"}, c.Name()) {
			root.RemoveCommand(c)
		}
	}
	root.AddCommand(newRunCommand(st), newResumeCommand(st), newJournalCommand(st), newRunsCommand(st), newSuiteCommand(st))
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&errw)
	err := root.Execute()
	if err != nil && err.Error() != "" {
		errw.WriteString(oneLine(err.Error()) + "\n")
	}
	return exitCode(err), out.String(), errw.String()
}

// Every suite command answers outside a checkout, in words and as JSON.
func TestSuiteCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tc := range []struct{ args, want string }{
		{"suite list", "pilot-v1"},
		{"suite show pilot", "latency reference"},
		{"suite plan pilot", "core:minilm-smollm2"},
		{"suite plan --corpus pilot-v1 --arm deterministic --limit 2", "\tdeterministic\t0\n"},
		{"run pilot --dry-run", ""},
	} {
		code, out, errs := runCommand(t, nil, strings.Fields(tc.args)...)
		if code != 0 || !strings.Contains(out, tc.want) {
			t.Errorf("%s: exit %d, %s%s", tc.args, code, out, errs)
		}
		code, out, _ = runCommand(t, nil, append(strings.Fields(tc.args), "--format", "json")...)
		dec := json.NewDecoder(strings.NewReader(out))
		for dec.More() {
			var v any
			if err := dec.Decode(&v); err != nil {
				t.Errorf("%s --format json: %v", tc.args, err)
				break
			}
		}
		if code != 0 {
			t.Errorf("%s --format json: exit %d", tc.args, code)
		}
	}
	_, _, errs := runCommand(t, nil, "suite", "plan", "pilot", "--limit", "2")
	for _, want := range []string{"8 trials: 2 cases", "power: ", "exploratory: limited to 2 cases"} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in %s", want, errs)
		}
	}
}

// Each mistake is one line that says what to do, with code 2.
func TestRunUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("s.yaml", []byte("name: x\ncorpora:\n  - name: pilot-v1\narms: [deterministic]\nrepeat: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"run":                            "name a suite (pilot, route-choice, smoke)",
		"run nosuch":                     "known: pilot, route-choice, smoke",
		"run ./s.yaml":                   `./s.yaml:5:1: unknown key "repeat"; did you mean "repeats"?`,
		"run pilot --corpus x":           "not both",
		"run --corpus pilot-v1":          "--corpus wants",
		"run pilot --arm bear:x":         `arm "bear:x" is not known`,
		"suite plan pilot --case nosuch": "no case nosuch",
		"journal nosuch":                 "no run",
		"journal latest --only nothing":  "--only",
		"resume nosuch":                  "no run",
	} {
		code, out, errs := runCommand(t, nil, strings.Fields(args)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", args, code, out, errs)
		}
	}
}

// Each flag has a twin in the environment, and the flag wins.
func TestEnvTwins(t *testing.T) {
	t.Chdir(t.TempDir())
	env := map[string]string{"ASSAY_LIMIT": "3", "ASSAY_ARM": "deterministic,bare:smollm2", "ASSAY_REPEATS": "2"}
	_, _, errs := runCommand(t, env, "suite", "plan", "pilot", "--repeats", "1")
	if !strings.Contains(errs, "6 trials: 3 cases of") || !strings.Contains(errs, "× 2 arms × 1 repeats") {
		t.Error(errs)
	}
	env["ASSAY_LIMIT"] = "many"
	if code, _, errs := runCommand(t, env, "suite", "plan", "pilot"); code != exitUsage || !strings.Contains(errs, "ASSAY_LIMIT=many") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// A run's journal prints the same lines before and after it is packed, and
// runs lists its state.
func TestJournalAndRuns(t *testing.T) {
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	c := &corpus.Corpus{Meta: corpus.Meta{Name: "c"}, Cases: []corpus.Case{{ID: "c1"}}, CaseDigest: map[string]string{"c1": "sha256:1"}}
	p, err := benchmarks.NewPlan(benchmarks.Suite{Name: "t", Repeats: 1}, []benchmarks.Arm{{Name: "A"}}, []*corpus.Corpus{c}, benchmarks.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := runner.Execute(context.Background(), runner.Config{Plan: p, Targets: map[string]runner.Target{"A": &runner.Fake{}}, Runs: runs})
	if err != nil {
		t.Fatal(err)
	}
	code, packed, errs := runCommand(t, nil, "journal", "latest", "--runs", runs)
	if code != 0 || strings.Count(packed, "\n") != 6 {
		t.Fatalf("exit %d, %s%s", code, packed, errs)
	}
	if _, only, _ := runCommand(t, nil, "journal", sum.Dir, "--only", "trial"); strings.Count(only, "\n") != 1 || !strings.HasPrefix(only, `{"trial":{"key":`) {
		t.Errorf("got %s", only)
	}
	if err := os.WriteFile(filepath.Join(sum.Dir, journal.Name), []byte(packed+`{"trial":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, plain, errs := runCommand(t, nil, "journal", sum.ID, "--runs", runs); plain != packed || !strings.Contains(errs, "torn") {
		t.Errorf("got %s%s", plain, errs)
	}
	if code, out, errs := runCommand(t, nil, "runs", "--runs", runs); code != 0 || !strings.Contains(out, "complete") || !strings.Contains(out, "1/1") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}
