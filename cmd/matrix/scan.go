package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// places says which files carry which ids.
type places struct {
	code, tests map[string][]string
	unknown     []string // "id in file"
}

// Go names can't hold a hyphen: F_062 and F062 stand for F-062.
var idPattern = regexp.MustCompile(`(?:^|[^A-Za-z0-9])([FASHQ])([-_]?)(\d{2,3})(?:$|[^0-9])`)

// skipped reports folders that hold nothing of the project's own text.
func skipped(name string) bool {
	return name == ".git" || strings.HasPrefix(name, "zz_") || name == "runs" || name == "bin"
}

// scan finds ids in Go files and test scripts: tests in _test.go files and
// scripts, code elsewhere.
func scan(root string, titles map[string]string) (places, error) {
	p := places{code: map[string][]string{}, tests: map[string][]string{}}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if file != root && (skipped(name) || strings.HasPrefix(name, ".") || name == "recipes") {
				return filepath.SkipDir
			}
			return nil
		}
		script := strings.HasSuffix(name, ".txtar")
		if !script && !strings.HasSuffix(name, ".go") {
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		to := p.code
		if script || strings.HasSuffix(name, "_test.go") {
			to = p.tests
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		known, unknown := idsIn(data, titles)
		for _, id := range known {
			if !slices.Contains(to[id], rel) {
				to[id] = append(to[id], rel)
			}
		}
		for _, id := range unknown {
			p.unknown = append(p.unknown, fmt.Sprintf("%s in %s", id, rel))
		}
		return nil
	})
	return p, err
}

// idsIn lists the ids that a file carries. Unknown is only what is written as
// an id in full, so that F16 may be a number format.
func idsIn(data []byte, titles map[string]string) (known, unknown []string) {
	for len(data) > 0 {
		m := idPattern.FindSubmatchIndex(data)
		if m == nil {
			break
		}
		letter, digits := string(data[m[2]:m[3]]), string(data[m[6]:m[7]])
		id := letter + "-" + digits
		full := m[4] < m[5] && len(digits) == map[bool]int{true: 2, false: 3}[letter == "Q"]
		if _, ok := titles[id]; ok {
			known = append(known, id)
		} else if full {
			unknown = append(unknown, id)
		}
		data = data[m[7]:]
	}
	return known, unknown
}
