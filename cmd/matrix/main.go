// Command matrix writes docs/requirements.md: which code implements and which
// tests check every requirement id, or why one is waived. It fails on an id
// with neither, on a waiver that is not needed and on an id that the list does
// not know (H-019).
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
)

func main() {
	check := len(os.Args) > 1 && os.Args[1] == "-check"
	if err := run(".", check); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

// Go names can't hold a hyphen: F_062 and F062 stand for F-062.
var idPattern = regexp.MustCompile(`(?:^|[^A-Za-z0-9])([FASHQ])[-_]?(\d{2,3})(?:$|[^0-9])`)

// maxListed bounds how many places a row names.
const maxListed = 4

func run(root string, check bool) error {
	ids, titles, err := readIDs(filepath.Join(root, "docs/requirements/ids.txt"))
	if err != nil {
		return err
	}
	waived, err := readWaivers(filepath.Join(root, "docs/requirements/waivers.txt"), ids)
	if err != nil {
		return err
	}
	code, tests, err := scan(root, titles)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("# Requirement matrix\n\nWritten by `make matrix`; not edited by hand. An id is *tested by* the test files that carry it in a name or comment, *implemented by* the source files that do, or *waived* with the reason.\n\n")
	var missing, needless []string
	nTested, nWaived := 0, 0
	var rows bytes.Buffer
	for _, id := range ids {
		t, c, w := tests[id], code[id], waived[id]
		state := "tested by " + list(t)
		switch {
		case len(t) == 0 && w == "":
			missing = append(missing, id)
			state = "**neither test nor waiver**"
		case len(t) == 0:
			nWaived++
			state = "waived: " + w
		case w != "":
			needless = append(needless, id)
			nTested++
		default:
			nTested++
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", id, strings.ReplaceAll(titles[id], "|", "\\|"), list(c), state)
	}
	fmt.Fprintf(&b, "%d ids: %d tested, %d waived, %d open.\n\n| id | requirement | implemented by | checked |\n|---|---|---|---|\n", len(ids), nTested, nWaived, len(missing))
	b.Write(rows.Bytes())
	out := filepath.Join(root, "docs/requirements.md")
	if check {
		old, err := os.ReadFile(out)
		if err != nil {
			return err
		}
		if !bytes.Equal(old, b.Bytes()) {
			return fmt.Errorf("%s is not what the tree says now: run 'make matrix' and commit it", out)
		}
	} else if err := renameio.WriteFile(out, b.Bytes(), 0o644); err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("%d ids have neither a test nor a waiver: %s", len(missing), strings.Join(missing, " "))
	}
	if len(needless) > 0 {
		return fmt.Errorf("%d ids are waived although a test carries them; take them out of waivers.txt: %s", len(needless), strings.Join(needless, " "))
	}
	return nil
}

func readIDs(file string) ([]string, map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var ids []string
	titles := map[string]string{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		id, title, _ := strings.Cut(s.Text(), " ")
		if id == "" || strings.HasPrefix(id, "#") {
			continue
		}
		if _, dup := titles[id]; dup {
			return nil, nil, fmt.Errorf("%s: %s stands twice", file, id)
		}
		ids = append(ids, id)
		titles[id] = title
	}
	return ids, titles, s.Err()
}

func readWaivers(file string, ids []string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]string{}
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		what, why, _ := strings.Cut(s.Text(), " ")
		if what == "" || strings.HasPrefix(what, "#") {
			continue
		}
		if why == "" {
			return nil, fmt.Errorf("%s:%d: a waiver needs a reason", file, n)
		}
		first, last, ranged := strings.Cut(what, "..")
		i := slices.Index(ids, first)
		j := i
		if ranged {
			j = slices.Index(ids, last)
		}
		if i < 0 || j < i {
			return nil, fmt.Errorf("%s:%d: %q is not an id or a range of ids in the list", file, n, what)
		}
		for _, id := range ids[i : j+1] {
			out[id] = why
		}
	}
	return out, s.Err()
}

// scan finds ids in Go files: tests in _test.go files and test scripts, code
// elsewhere.
func scan(root string, titles map[string]string) (code, tests map[string][]string, err error) {
	code, tests = map[string][]string{}, map[string][]string{}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "zz_") || name == "runs" || name == "bin" || name == "recipes") {
				return filepath.SkipDir
			}
			return nil
		}
		script := strings.HasSuffix(name, ".txtar")
		if !script && !strings.HasSuffix(name, ".go") {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		to := code
		if script || strings.HasSuffix(name, "_test.go") {
			to = tests
		}
		rel, _ := filepath.Rel(root, p)
		for _, id := range idsIn(data, titles) {
			if !slices.Contains(to[id], rel) {
				to[id] = append(to[id], rel)
			}
		}
		return nil
	})
	return code, tests, err
}

// idsIn lists the known ids that a file carries.
func idsIn(data []byte, titles map[string]string) []string {
	var out []string
	for len(data) > 0 {
		m := idPattern.FindSubmatchIndex(data)
		if m == nil {
			break
		}
		id := string(data[m[2]:m[3]]) + "-" + string(data[m[4]:m[5]])
		if _, ok := titles[id]; ok {
			out = append(out, id)
		}
		data = data[m[5]:]
	}
	return out
}

func list(files []string) string {
	if len(files) == 0 {
		return "–"
	}
	slices.Sort(files)
	more := ""
	if len(files) > maxListed {
		more = fmt.Sprintf(" and %d more", len(files)-maxListed)
		files = files[:maxListed]
	}
	return "`" + strings.Join(files, "`, `") + "`" + more
}
