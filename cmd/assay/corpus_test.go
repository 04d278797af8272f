package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
)

// corpusRun executes `assay corpus …` and gives its exit code and streams.
func corpusRun(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errw bytes.Buffer
	st := &state{
		Args: append([]string{"corpus"}, args...), Env: map[string]string{}, Stdin: strings.NewReader(""),
		Stdout: &out, Stderr: &errw, Width: 100, Now: func() time.Time { return time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC) },
	}
	code = run(st)
	return code, out.String(), errw.String()
}

// H-001, H-002: each corpus command answers for a shipped corpus outside a
// checkout, in words and as JSON.
func TestCorpusCommands_H001_H002(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tc := range []struct{ args, want string }{
		{"list", "pilot-v1"},
		{"show pilot-v1", "family"},
		{"stats pilot-v1", "Constructed by this project"},
		{"verify pilot-v1", "holds: 12 cases, sha256:"},
	} {
		code, out, errs := corpusRun(t, strings.Fields(tc.args)...)
		if code != 0 || !strings.Contains(strings.ToLower(out), strings.ToLower(tc.want)) {
			t.Errorf("corpus %s: exit %d, %s%s; want %q", tc.args, code, out, errs, tc.want)
		}
		code, out, errs = corpusRun(t, append(strings.Fields(tc.args), "--format", "json")...)
		if code != 0 || !json.Valid([]byte(out)) {
			t.Errorf("corpus %s --format json: exit %d, %s%s", tc.args, code, out, errs)
		}
	}
	if code, _, errs := corpusRun(t, "verify", "nosuch"); code != exitUsage || !strings.Contains(errs, "pilot-v1") {
		t.Errorf("unknown corpus: exit %d, %s", code, errs)
	}
}

// a label is shown only when asked for.
func TestCorpusShowLabel_Q25(t *testing.T) {
	c, err := corpus.Find(t.TempDir(), "pilot-v1")
	if err != nil {
		t.Fatal(err)
	}
	labels, err := label.Load("", c)
	if err != nil {
		t.Fatal(err)
	}
	k := c.Cases[0]
	_, plain, _ := corpusRun(t, "show", "pilot-v1", k.ID)
	_, with, _ := corpusRun(t, "show", "pilot-v1", k.ID, "--label")
	if strings.Contains(plain, labels[k.ID].Cause) || !strings.Contains(with, labels[k.ID].Cause) {
		t.Error("the label is shown unasked, or not shown when asked for")
	}
}

// H-001: one changed byte ends verify, show and freeze with code 6 and the
// file's name; nothing is written.
func TestCorpusChanged_H001(t *testing.T) {
	src, err := filepath.Abs("../../corpus/pilot-v1")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "pilot-v1")
	if err := os.CopyFS(dir, os.DirFS(src)); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, corpus.GuideFile)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []string{"verify", "show", "freeze"} {
		code, out, errs := corpusRun(t, cmd, dir)
		if code != exitFrozen || out != "" || !strings.Contains(errs, corpus.GuideFile) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", cmd, code, out, errs)
		}
	}
	if code, out, errs := corpusRun(t, "freeze", dir, "--new-version"); code != 0 || !strings.Contains(out, "version 2 is frozen") {
		t.Errorf("freeze --new-version: exit %d, %s%s", code, out, errs)
	}
}
