package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

// work names what a "planned:" waiver may point to, in the order it comes.
var work = []string{
	"corpora and own-corpus tools",
	"runner speed and crash safety",
	"governance complete for phases 0 and 1",
	"qualification: repeated runs, certificate, promotion",
	"advisor strategies and graph primitives",
	"phases 2 to 4",
	"importers",
	"many hosts",
	"web view",
}

// lines calls f with every line that is neither empty nor a comment, cut at
// the first space.
func lines(file string, f func(n int, first, rest string) error) error {
	data, err := os.Open(file)
	if err != nil {
		return err
	}
	defer data.Close()
	s := bufio.NewScanner(data)
	for n := 1; s.Scan(); n++ {
		first, rest, _ := strings.Cut(strings.TrimSpace(s.Text()), " ")
		if first == "" || strings.HasPrefix(first, "#") {
			continue
		}
		if err := f(n, first, strings.TrimSpace(rest)); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return s.Err()
}

// readIDs reads every id with its title.
func readIDs(file string) (ids []string, titles map[string]string, err error) {
	titles = map[string]string{}
	err = lines(file, func(_ int, id, title string) error {
		if _, twice := titles[id]; twice {
			return fmt.Errorf("%s stands twice", id)
		}
		if title == "" {
			return fmt.Errorf("%s has no title", id)
		}
		ids = append(ids, id)
		titles[id] = title
		return nil
	})
	return ids, titles, err
}

// readWaivers reads ids or ranges FIRST..LAST with the reason of each.
func readWaivers(file string, ids []string) (map[string]string, error) {
	out := map[string]string{}
	err := lines(file, func(_ int, what, why string) error {
		if err := reason(why); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		first, last, ranged := strings.Cut(what, "..")
		i := slices.Index(ids, first)
		j := i
		if ranged {
			j = slices.Index(ids, last)
		}
		if i < 0 || j < i {
			return fmt.Errorf("%q is not an id or a range of ids in the list", what)
		}
		for _, id := range ids[i : j+1] {
			if out[id] != "" {
				return fmt.Errorf("%s is waived twice", id)
			}
			out[id] = why
		}
		return nil
	})
	return out, err
}

// reason checks why an id is waived: planned: WORK, perhaps with a note in
// brackets such as (today under F-NNN), or decision: WHAT IT BINDS.
func reason(why string) error {
	kind, what, _ := strings.Cut(why, ":")
	what = strings.TrimSpace(what)
	if planned, note, noted := strings.Cut(what, " ("); noted && kind == "planned" && strings.HasSuffix(note, ")") {
		what = planned
	}
	switch {
	case what == "":
		return fmt.Errorf("a waiver needs a reason: planned: WORK, or decision: WHAT IT BINDS")
	case kind == "planned" && !slices.Contains(work, what):
		return fmt.Errorf("%q is not planned work; the list is %s", what, strings.Join(work, "; "))
	case kind != "planned" && kind != "decision":
		return fmt.Errorf("a reason begins with planned: or decision:, not %q", kind)
	}
	return nil
}
