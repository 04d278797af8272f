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

// An id in a text, a name such as TestF062_Refusals or TestDoors_F031_F032, or
// a range F061toF070, F-061..F-070. Go names can't hold a hyphen: an
// underscore or nothing stands for it.
var idPattern = regexp.MustCompile(`(?:^|[^A-Z0-9])([FASHQ])([-_]?)(\d{2,3})(?:(?:to|\.\.)([FASHQ])[-_]?(\d{2,3}))?(?:$|[^0-9])`)

// skipped reports folders that hold nothing of the project's own text.
func skipped(name string) bool {
	return name == ".git" || strings.HasPrefix(name, "zz_") || name == "runs" || name == "bin"
}

// scan finds ids in Go files and test scripts: tests in _test.go files and
// scripts, code elsewhere.
func scan(root string, ids []string) (places, error) {
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
		known, unknown := idsIn(data, ids)
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
func idsIn(data []byte, ids []string) (known, unknown []string) {
	for len(data) > 0 {
		m := idPattern.FindSubmatchIndex(data)
		if m == nil {
			break
		}
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return string(data[m[2*n]:m[2*n+1]])
		}
		first, last, end := group(1)+"-"+group(3), group(1)+"-"+group(3), m[7]
		if group(4) != "" {
			last, end = group(4)+"-"+group(5), m[11]
		}
		i, j := slices.Index(ids, first), slices.Index(ids, last)
		digits := 3
		if group(1) == "Q" {
			digits = 2
		}
		switch {
		case i >= 0 && j >= i:
			known = append(known, ids[i:j+1]...)
		case group(2) != "" && len(group(3)) == digits:
			unknown = append(unknown, string(data[m[2]:end]))
		}
		data = data[end:]
	}
	return known, unknown
}
