package corpus_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/specialists/contract"
)

const meta = `name: tiny
version: 1
task_class: failure_analysis
origin: made by a test
licence: Apache-2.0
purpose: frozen
goal: Find the cause.
label_sources:
  human: 2
`

func item(id, text string) contract.EvidenceItem {
	d := sha256.Sum256([]byte(text))
	return contract.EvidenceItem{ID: id, Source: "stage_output", Workspace: "ws-1", MediaType: "text/plain", Text: text, SHA256: hex.EncodeToString(d[:])}
}

func tinyCase(id string) corpus.Case {
	return corpus.Case{
		ID: id, Family: "f-" + id, Task: contract.TaskFailureAnalysis,
		Evidence: []contract.EvidenceItem{item("e1", "exit 1\n"), item("e2", "no such file: ä\n")},
		World: corpus.World{Workspace: "ws-1", Run: "r1", Branch: "b1", Caller: contract.Caller{
			System: contract.SystemForgeAgent, Component: "run_typed_agent", AgentID: "a", AgentVersion: "1", Role: "operator",
			WorkspaceID: "ws-1", RunID: "r1", BranchID: "b1",
		}},
	}
}

func tinyLabel(id string) label.Label {
	return label.Label{
		Case: id, Class: "code_defect", Evidence: []string{"e2"}, Cause: "injected", Source: label.SourceHuman,
		Difficulty: label.Easy, Toolchain: "go", Labeler: "a person", Date: "2026-01-02", Guide: "failure-classes/1",
	}
}

func line(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

// tiny writes a valid corpus of two cases that is not frozen.
func tiny(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	taxonomy, guide := corpus.DefaultTaxonomy()
	for name, text := range map[string]string{
		"corpus.yaml": meta, "taxonomy.yaml": string(taxonomy), "guide.md": string(guide),
		"cases.jsonl":  line(t, tinyCase("c1")) + line(t, tinyCase("c2")),
		"labels.jsonl": line(t, tinyLabel("c1")) + line(t, tinyLabel("c2")),
		"notes/a.txt":  "a\n",
	} {
		put(t, dir, name, text)
	}
	return dir
}

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func freeze(t testing.TB, dir string) *corpus.Corpus {
	t.Helper()
	c, err := corpus.Freeze(dir, corpus.FreezeOptions{Check: label.Check})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// H-001: a frozen corpus loads with the digest of its SHA256SUMS, each case
// with that of its line, the taxonomy with that of its bytes.
func TestH001FreezeAndLoad(t *testing.T) {
	dir := tiny(t)
	c := freeze(t, dir)
	sums, err := os.ReadFile(filepath.Join(dir, corpus.SumsFile))
	if err != nil {
		t.Fatal(err)
	}
	hash := func(b []byte) string { d := sha256.Sum256(b); return "sha256:" + hex.EncodeToString(d[:]) }
	taxonomy, _ := corpus.DefaultTaxonomy()
	wantLine := hash([]byte(strings.TrimSuffix(line(t, tinyCase("c2")), "\n")))
	if c.Digest != hash(sums) || c.TaxonomyDigest != hash(taxonomy) || c.CaseDigest["c2"] != wantLine {
		t.Errorf("digests: corpus %s, taxonomy %s, case %s", c.Digest, c.TaxonomyDigest, c.CaseDigest["c2"])
	}
	if got := strings.Count(string(sums), "\n"); got != 6 {
		t.Errorf("SHA256SUMS lists %d files, want 6:\n%s", got, sums)
	}
	if again := freeze(t, dir); again.Digest != c.Digest {
		t.Errorf("freezing again moved the digest from %s to %s", c.Digest, again.Digest)
	}
	if d, err := corpus.Verify(dir); err != nil || d != c.Digest {
		t.Errorf("Verify = %s, %v", d, err)
	}
	put(t, dir, corpus.AuditsFile, "{}\n")
	if d, err := corpus.Verify(dir); err != nil || d != c.Digest {
		t.Errorf("with an audit: Verify = %s, %v; want the same digest", d, err)
	}
}

// H-001: one byte edited anywhere, a file added or a file taken away is refused
// with the file's name.
func TestH001OneByteEdit(t *testing.T) {
	dir := tiny(t)
	freeze(t, dir)
	var names []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "file")
		old, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(0, len(old)-1).Draw(t, "at")
		flip := byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		edited := bytes.Clone(old)
		switch rapid.SampledFrom([]string{"edit", "cut", "add"}).Draw(t, "how") {
		case "edit":
			edited[at] ^= flip
		case "cut":
			edited = append(edited[:at], edited[at+1:]...)
		case "add":
			edited = append(edited, flip)
		}
		if err := os.WriteFile(name, edited, 0o644); err != nil {
			t.Fatal(err)
		}
		_, lerr := corpus.Load(dir)
		if err := os.WriteFile(name, old, 0o644); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(lerr, corpus.ErrChanged) {
			t.Fatalf("edited %s at %d: %v, want ErrChanged", name, at, lerr)
		}
		if filepath.Base(name) != corpus.SumsFile && !strings.Contains(lerr.Error(), filepath.Base(name)) {
			t.Fatalf("error does not name %s: %v", name, lerr)
		}
	})
	for _, name := range names {
		if filepath.Base(name) == corpus.SumsFile {
			continue
		}
		if err := os.Rename(name, name+".x"); err != nil {
			t.Fatal(err)
		}
		if _, err := corpus.Load(dir); !errors.Is(err, corpus.ErrChanged) || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("without %s: %v", name, err)
		}
		if err := os.Rename(name+".x", name); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, "extra.txt", "x")
	if _, err := corpus.Load(dir); !errors.Is(err, corpus.ErrChanged) || !strings.Contains(err.Error(), "extra.txt") {
		t.Errorf("with an added file: %v", err)
	}
}

// H-001: a symbolic link is refused, whether or not it leads out of the folder.
func TestH001Symlink(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "cases.jsonl")
	for _, target := range []string{outside, "notes/a.txt"} {
		dir := tiny(t)
		put(t, filepath.Dir(outside), "cases.jsonl", line(t, tinyCase("c1")))
		if err := os.Remove(filepath.Join(dir, "cases.jsonl")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, "cases.jsonl")); err != nil {
			t.Fatal(err)
		}
		if _, err := corpus.Load(dir); !errors.Is(err, corpus.ErrInvalid) || !strings.Contains(err.Error(), "cases.jsonl") {
			t.Errorf("link to %s: %v, want ErrInvalid", target, err)
		}
	}
}

// H-001: a changed frozen corpus is frozen again only as a new version.
func TestH001NewVersion(t *testing.T) {
	dir := tiny(t)
	first := freeze(t, dir)
	put(t, dir, "notes/a.txt", "b\n")
	if _, err := corpus.Freeze(dir, corpus.FreezeOptions{Check: label.Check}); !errors.Is(err, corpus.ErrChanged) {
		t.Fatalf("refreeze: %v, want ErrChanged", err)
	}
	second, err := corpus.Freeze(dir, corpus.FreezeOptions{Check: label.Check, NewVersion: true})
	if err != nil {
		t.Fatal(err)
	}
	if second.Meta.Version != 2 || second.Digest == first.Digest {
		t.Errorf("version %d, digest %s; want 2 and another digest", second.Meta.Version, second.Digest)
	}
}

// Freezing without a check for labels is refused, so that no caller forgets it.
func TestH001FreezeNeedsCheck(t *testing.T) {
	dir := tiny(t)
	if _, err := corpus.Freeze(dir, corpus.FreezeOptions{}); err == nil {
		t.Error("frozen without a check")
	}
	if _, err := os.Stat(filepath.Join(dir, corpus.SumsFile)); err == nil {
		t.Error("SHA256SUMS was written")
	}
}

func TestFindNotFound(t *testing.T) {
	if _, err := corpus.Find(t.TempDir(), "nosuch"); !errors.Is(err, corpus.ErrNotFound) {
		t.Errorf("Find: %v, want ErrNotFound", err)
	}
}

// The case decoder never panics, and what it accepts it accepts again from its
// own encoding.
func FuzzDecodeCase(f *testing.F) {
	f.Add([]byte(strings.TrimSuffix(line(f, tinyCase("c1")), "\n")))
	f.Add([]byte(`{"id":"c1","id":"c1"}`))
	f.Add([]byte(`{"id":"\ud800"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		k, err := corpus.DecodeCase("cases.jsonl", 1, raw)
		if err != nil {
			if !errors.Is(err, corpus.ErrInvalid) {
				t.Fatalf("not ErrInvalid: %v", err)
			}
			return
		}
		again, err := corpus.DecodeCase("cases.jsonl", 1, []byte(strings.TrimSuffix(line(t, k), "\n")))
		if err != nil || again.ID != k.ID || len(again.Evidence) != len(k.Evidence) {
			t.Fatalf("own encoding refused: %v", err)
		}
	})
}
