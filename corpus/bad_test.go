package corpus_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
)

// edit replaces the first old in a file, which must be there.
func edit(name, old, new string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), old) {
			t.Fatalf("%s does not hold %q", name, old)
		}
		put(t, dir, name, strings.Replace(string(data), old, new, 1))
	}
}

func write(name, text string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) { t.Helper(); put(t, dir, name, text) }
}

// H-001, Q-23, Q-25, Q-40: every bad input is refused before anything is frozen,
// with file and line and what to do.
func TestBadInputs(t *testing.T) {
	c1, c2 := line(t, tinyCase("c1")), line(t, tinyCase("c2"))
	l1, l2 := line(t, tinyLabel("c1")), line(t, tinyLabel("c2"))
	with := func(old, new string) string { return l1 + strings.Replace(l2, old, new, 1) }
	for _, tc := range []struct {
		name string
		make func(t *testing.T, dir string)
		want string // part of the message
	}{
		{"H-001 unknown key", edit("cases.jsonl", `"family"`, `"famly"`), `cases.jsonl:1: unknown key "famly"; did you mean "family"?`},
		{"H-001 key in other case", edit("cases.jsonl", `"family"`, `"Family"`), `cases.jsonl:1: unknown key "Family"`},
		{"H-001 repeated key", write("cases.jsonl", c1+`{"id":"c2",`+c2[1:]), `cases.jsonl:2: key "id" is given twice`},
		{"H-001 trailing text", write("cases.jsonl", c1+strings.TrimSpace(c2)+" x\n"), "cases.jsonl:2"},
		{"H-001 two objects in a line", write("cases.jsonl", strings.TrimSpace(c1)+c2), "text after the object"},
		{"H-001 bad UTF-8", edit("cases.jsonl", "ä", "\xe4"), "cases.jsonl:1: bytes that are not UTF-8"},
		{"H-001 BOM", write("cases.jsonl", "\ufeff"+c1), "cases.jsonl:1: byte order mark"},
		{"H-001 NUL", edit("cases.jsonl", "ä", "\x00"), "cases.jsonl:1: NUL"},
		{"H-001 escaped NUL", edit("cases.jsonl", "ä", `\u0000`), "cases.jsonl:1: NUL"},
		{"H-001 half surrogate", edit("cases.jsonl", "ä", `\ud83d`), "half a surrogate pair"},
		{"H-001 CR LF", write("cases.jsonl", strings.ReplaceAll(c1, "\n", "\r\n")), "cases.jsonl:1: line ends with CR LF"},
		{"H-001 empty line", write("cases.jsonl", c1+"\n"+c2), "cases.jsonl:2: empty line"},
		{"H-001 cut off", write("cases.jsonl", c1+c2[:40]), "cases.jsonl:2: last line has no newline"},
		{"H-001 null", edit("cases.jsonl", `"family":"f-c1"`, `"family":null`), "is null"},
		{"H-001 wrong type", edit("cases.jsonl", `"family":"f-c1"`, `"family":7`), `"family" must be a string`},
		{"H-001 array", write("cases.jsonl", "[]\n"), "not a JSON object"},
		{"H-001 no cases", write("cases.jsonl", ""), "no cases"},
		{"H-001 duplicate id", write("cases.jsonl", c1+c1), "cases.jsonl:2: case id c1 stands already on line 1"},
		{"H-001 no family", edit("cases.jsonl", `"family":"f-c1"`, `"family":""`), "family"},
		{"H-001 no evidence", edit("cases.jsonl", `"evidence":[`, `"evidence":[],"tags":[`), "cases.jsonl:1"},
		{"H-001 wrong evidence sha256", edit("cases.jsonl", "exit 1", "exit 2"), "sha256 is not that of its text"},
		{"H-001 evidence id twice", edit("cases.jsonl", `"id":"e2"`, `"id":"e1"`), "evidence id e1 stands twice"},
		{"H-001 foreign workspace", edit("cases.jsonl", `"workspace":"ws-1"`, `"workspace":"ws-2"`), "belongs to workspace"},
		{"H-001 other task", edit("cases.jsonl", "failure_analysis", "agent_build"), "task is"},
		{"H-001 unknown caller", edit("cases.jsonl", "forge_agent", "stranger"), "caller system"},
		{"H-002 no origin", edit("corpus.yaml", "origin: made by a test\n", ""), "origin is empty"},
		{"H-001 unknown yaml key", edit("corpus.yaml", "licence:", "license:"), `corpus.yaml:5:1: unknown key "license"; did you mean "licence"?`},
		{"H-001 repeated yaml key", edit("corpus.yaml", "version: 1", "version: 1\nversion: 2"), "corpus.yaml:3"},
		{"H-001 yaml BOM", write("corpus.yaml", "\ufeff"+meta), "byte order mark"},
		{"Q-40 no abstention", edit("taxonomy.yaml", "id: insufficient_evidence", "id: other_evidence"), "insufficient_evidence"},
		{"Q-23 near miss unknown", edit("taxonomy.yaml", "near_miss: version_conflict", "near_miss: nothing"), "near_miss"},
		{"Q-23 class twice", edit("taxonomy.yaml", "id: version_conflict", "id: dependency_missing"), "stands twice"},
		{"H-001 unlabeled", write("labels.jsonl", l1), "case c2 has no label"},
		{"H-001 two labels", write("labels.jsonl", l1+l1+l2), "labels.jsonl:2: case c1 has a label already"},
		{"H-001 label without case", write("labels.jsonl", l1+l2+line(t, tinyLabel("c3"))), `label for case "c3"`},
		{"H-001 dangling evidence", write("labels.jsonl", with(`"e2"`, `"e9"`)), `evidence "e9"`},
		{"H-001 no evidence cited", write("labels.jsonl", with(`["e2"]`, `[]`)), "evidence is empty"},
		{"Q-23 class not in taxonomy", write("labels.jsonl", with("code_defect", "gremlins")), `class "gremlins" is not in the taxonomy`},
		{"Q-25 label by a model", write("labels.jsonl", with(`"human"`, `"model"`)), "never a label"},
		{"Q-25 unknown source", write("labels.jsonl", with(`"human"`, `"oracle"`)), "human, constructed or imported"},
		{"Q-25 human without labeler", write("labels.jsonl", with(`"labeler":"a person",`, "")), "needs its labeler"},
		{"Q-25 constructed without recipe", write("labels.jsonl", with(`"human"`, `"constructed"`)), "names recipes/<name>"},
		{"Q-25 recipe gone", write("labels.jsonl", with(`"human"`, `"constructed","recipe":"recipes/a","recipe_sha256":"`+strings.Repeat("0", 64)+`"`)), "recipe recipes/a"},
		{"Q-25 imported without origin", write("labels.jsonl", with(`"human"`, `"imported"`)), "origin, revision and licence"},
		{"Q-25 no date", write("labels.jsonl", with("2026-01-02", "yesterday")), "YYYY-MM-DD"},
		{"Q-25 wrong count", edit("corpus.yaml", "human: 2", "human: 3"), "label_sources says 3 human labels"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := tiny(t)
			tc.make(t, dir)
			_, err := corpus.Freeze(dir, corpus.FreezeOptions{Check: label.Check})
			if !errors.Is(err, corpus.ErrInvalid) {
				t.Fatalf("freeze: %v, want ErrInvalid", err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("message %q lacks %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("message has more than one line: %q", err)
			}
			if strings.Contains(tc.name, "by a model") && !errors.Is(err, label.ErrModel) {
				t.Errorf("not ErrModel: %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, corpus.SumsFile)); err == nil {
				t.Error("SHA256SUMS was written")
			}
		})
	}
}

// a constructed label holds as long as its recipe's bytes do.
func TestQ25RecipeDigest(t *testing.T) {
	dir := tiny(t)
	put(t, dir, "recipes/a/run.sh", "true\n")
	put(t, dir, "recipes/a/recipe.yaml", "x: 1\n")
	d, err := label.RecipeDigest(os.DirFS(dir), "recipes/a")
	if err != nil {
		t.Fatal(err)
	}
	l := tinyLabel("c1")
	l.Source, l.Labeler, l.Recipe, l.RecipeSHA256 = label.SourceConstructed, "", "recipes/a", d
	put(t, dir, "labels.jsonl", line(t, l)+line(t, tinyLabel("c2")))
	put(t, dir, "corpus.yaml", strings.Replace(meta, "human: 2", "human: 1\n  constructed: 1", 1))
	freeze(t, dir)
	if err := os.Remove(filepath.Join(dir, corpus.SumsFile)); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "recipes/a/run.sh", "false\n")
	if _, err := corpus.Freeze(dir, corpus.FreezeOptions{Check: label.Check}); !errors.Is(err, corpus.ErrInvalid) || !strings.Contains(err.Error(), "recipe_sha256") {
		t.Errorf("after an edit of the recipe: %v", err)
	}
}
