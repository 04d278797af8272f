package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes a small project: two ids, one tested, one waived.
func tree(t *testing.T, change map[string]string) string {
	t.Helper()
	root := t.TempDir()
	// The ids are put together here, so that this file carries none of them.
	files := map[string]string{
		"docs/requirements/ids.txt":     "# ids\nID1 The first\nID2 The second | with a bar\n",
		"docs/requirements/waivers.txt": "ID2 planned: many hosts\n",
		"a/a.go":                        "// Package a does it (ID1).\npackage a\n",
		"a/a_test.go":                   "package a\n\n// TestA checks ID1.\n",
	}
	for name, text := range change {
		files[name] = text
	}
	for name, text := range files {
		if text == "" {
			continue
		}
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		text = strings.NewReplacer("ID1", "F-"+"901", "ID2", "H-"+"902", "ID3", "Q-"+"93").Replace(text)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestMatrix_H019: an id needs a test or a waiver with a reason, never both.
func TestMatrix_H019(t *testing.T) {
	for _, c := range []struct {
		name   string
		change map[string]string
		want   string // "" passes
	}{
		{"a test and a waiver", nil, ""},
		{"neither", map[string]string{"docs/requirements/waivers.txt": "# none\n"}, "1 ids have neither a test nor a waiver: H-" + "902"},
		{"a script is a test", map[string]string{"docs/requirements/waivers.txt": "# none\n", "a/b.txtar": "# ID2\n"}, ""},
		{"an underscore is a hyphen", map[string]string{"docs/requirements/waivers.txt": "# none\n", "a/b_test.go": "package a\n\nfunc TestB_H_" + "902(){}\n"}, ""},
		{"a name may begin with it", map[string]string{"docs/requirements/waivers.txt": "# none\n", "a/b_test.go": "package a\n\nfunc TestH" + "902Works(){}\n"}, ""},
		{"a range", map[string]string{"docs/requirements/waivers.txt": "# none\n", "a/b_test.go": "package a\n\nfunc TestF" + "901toH" + "902_Both(){}\n"}, ""},
		{"a range with dots", map[string]string{"docs/requirements/waivers.txt": "# none\n", "a/b_test.go": "// ID1..ID2\npackage a\n"}, ""},
		{"a range that ends nowhere", map[string]string{"a/b_test.go": "// ID1..ID3\npackage a\n"}, "does not know: F-" + "901..Q-" + "93"},
		{"code is no test", map[string]string{"docs/requirements/waivers.txt": "# none\n", "a/b.go": "// ID2\npackage a\n"}, "neither a test nor a waiver"},
		{"a recipe is no test", map[string]string{"docs/requirements/waivers.txt": "# none\n", "a/recipes/b_test.go": "// ID2\npackage a\n"}, "neither a test nor a waiver"},
		{"needless", map[string]string{"docs/requirements/waivers.txt": "ID1..ID2 planned: many hosts\n"}, "waived although a test carries them"},
		{"no reason", map[string]string{"docs/requirements/waivers.txt": "ID2\n"}, "waivers.txt:1: H-" + "902: a waiver needs a reason"},
		{"an empty reason", map[string]string{"docs/requirements/waivers.txt": "ID2 planned:  \n"}, "needs a reason"},
		{"an unplanned plan", map[string]string{"docs/requirements/waivers.txt": "ID2 planned: some day\n"}, "not planned work"},
		{"a plan with a note", map[string]string{"docs/requirements/waivers.txt": "ID2 planned: many hosts (today under ID1)\n"}, ""},
		{"an unplanned plan with a note", map[string]string{"docs/requirements/waivers.txt": "ID2 planned: soon (many hosts)\n"}, "not planned work"},
		{"another reason", map[string]string{"docs/requirements/waivers.txt": "ID2 later: x\n"}, "begins with planned: or decision:"},
		{"a decision", map[string]string{"docs/requirements/waivers.txt": "ID2 decision: binds what is not built\n"}, ""},
		{"waived twice", map[string]string{"docs/requirements/waivers.txt": "ID2 planned: importers\nID2 planned: many hosts\n"}, "waived twice"},
		{"an unknown waiver", map[string]string{"docs/requirements/waivers.txt": "ID3 planned: importers\n"}, "not an id or a range"},
		{"a backward range", map[string]string{"docs/requirements/waivers.txt": "ID2..ID1 planned: importers\n"}, "not an id or a range"},
		{"an unknown id in a test", map[string]string{"a/b_test.go": "// ID3\npackage a\n"}, "does not know: Q-" + "93 in a/b_test.go"},
		{"a number format is no id", map[string]string{"a/b_test.go": "// F16 and F-16\npackage a\n"}, ""},
		{"an id twice", map[string]string{"docs/requirements/ids.txt": "ID1 a\nID1 b\n"}, "stands twice"},
		{"no title", map[string]string{"docs/requirements/ids.txt": "ID1\n"}, "has no title"},
		{"no list", map[string]string{"docs/requirements/ids.txt": ""}, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := run(tree(t, c.change), false)
			if c.want == "" && err != nil {
				t.Fatal(err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("%v, want %q in it", err, c.want)
			}
		})
	}
}

// TestCheck_H019: -check passes on what was written and on nothing else.
func TestCheck_H019(t *testing.T) {
	root := tree(t, nil)
	if err := run(root, true); err == nil {
		t.Error("passed without a matrix")
	}
	if err := run(root, false); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err != nil {
		t.Error(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/requirements.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2 ids: 1 tested, 1 waived, 0 open.",
		"| The first | `a/a.go` | tested by `a/a_test.go` |",
		`| The second \| with a bar | – | waived: planned: many hosts |`,
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "a/c_test.go"), []byte("// F-"+"901\npackage a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err == nil || !strings.Contains(err.Error(), "run 'make matrix'") {
		t.Errorf("a stale matrix: %v", err)
	}
}
