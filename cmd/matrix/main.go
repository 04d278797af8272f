// Command matrix writes docs/requirements.md: which code implements and which
// tests check every requirement id, or why one is waived. It fails on an id
// with neither, on a waiver that is not needed or has no proper reason, and on
// an id that the list does not know (H-019). Its tests also hold the rules of
// the tree itself: honest naming, links that resolve, nothing of a machine.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
)

func main() {
	check := len(os.Args) == 2 && os.Args[1] == "-check"
	if len(os.Args) > 1 && !check {
		fmt.Fprintln(os.Stderr, "usage: matrix [-check]   (-check writes nothing and fails on a stale docs/requirements.md)")
		os.Exit(2)
	}
	if err := run(".", check); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

// maxListed bounds how many places a row names.
const maxListed = 4

// run writes the matrix of the tree at root, or only compares it.
func run(root string, check bool) error {
	ids, titles, err := readIDs(filepath.Join(root, "docs/requirements/ids.txt"))
	if err != nil {
		return err
	}
	waived, err := readWaivers(filepath.Join(root, "docs/requirements/waivers.txt"), ids)
	if err != nil {
		return err
	}
	places, err := scan(root, ids)
	if err != nil {
		return err
	}
	page, faults := render(ids, titles, waived, places)
	if len(places.unknown) > 0 {
		faults = append(faults, fmt.Errorf("ids that the list does not know: %s", strings.Join(places.unknown, ", ")))
	}
	out := filepath.Join(root, "docs/requirements.md")
	if !check {
		if err := renameio.WriteFile(out, page, 0o644); err != nil {
			return err
		}
		return errors.Join(faults...)
	}
	old, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, page) {
		faults = append(faults, fmt.Errorf("%s is not what the tree says now: run 'make matrix' and commit it", out))
	}
	return errors.Join(faults...)
}

// render writes the page and says what is wrong with the rows.
func render(ids []string, titles, waived map[string]string, places places) ([]byte, []error) {
	var missing, needless []string
	tested, excused := 0, 0
	var rows bytes.Buffer
	for _, id := range ids {
		by, why := places.tests[id], waived[id]
		state := "tested by " + list(by)
		switch {
		case len(by) > 0:
			tested++
			if why != "" {
				needless = append(needless, id)
			}
		case why != "":
			excused++
			state = "waived: " + why
		default:
			missing = append(missing, id)
			state = "**neither test nor waiver**"
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", id, strings.ReplaceAll(titles[id], "|", "\\|"), list(places.code[id]), strings.ReplaceAll(state, "|", "\\|"))
	}
	var b bytes.Buffer
	b.WriteString("# Requirement matrix\n\nWritten by `make matrix`; not edited by hand. An id is *tested by* the test files that carry it in a name or comment, *implemented by* the source files that do, or *waived* with the reason.\n\n")
	fmt.Fprintf(&b, "%d ids: %d tested, %d waived, %d open.\n\n| id | requirement | implemented by | checked |\n|---|---|---|---|\n", len(ids), tested, excused, len(missing))
	b.Write(rows.Bytes())

	var faults []error
	if len(missing) > 0 {
		faults = append(faults, fmt.Errorf("%d ids have neither a test nor a waiver: %s", len(missing), strings.Join(missing, " ")))
	}
	if len(needless) > 0 {
		faults = append(faults, fmt.Errorf("%d ids are waived although a test carries them; take them out of waivers.txt: %s", len(needless), strings.Join(needless, " ")))
	}
	return b.Bytes(), faults
}

// list names files, the first few in full.
func list(files []string) string {
	if len(files) == 0 {
		return "–"
	}
	files = slices.Sorted(slices.Values(files))
	more := ""
	if len(files) > maxListed {
		more = fmt.Sprintf(" and %d more", len(files)-maxListed)
		files = files[:maxListed]
	}
	return "`" + strings.Join(files, "`, `") + "`" + more
}
