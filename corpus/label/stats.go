package label

import (
	"fmt"
	"sort"

	"github.com/fabriccore/assay/corpus"
)

// Stats counts what a corpus holds. Lengths are bytes of evidence text.
type Stats struct {
	Name         string         `json:"name"`
	Version      int            `json:"version"`
	Purpose      string         `json:"purpose"`
	Origin       string         `json:"origin"` // H-002
	Digest       string         `json:"digest"`
	Cases        int            `json:"cases"`
	Families     int            `json:"families"`
	Classes      map[string]int `json:"classes,omitempty"`
	Toolchains   map[string]int `json:"toolchains,omitempty"`
	Difficulties map[string]int `json:"difficulties,omitempty"`
	Sources      map[string]int `json:"label_sources,omitempty"`
	ItemSources  map[string]int `json:"item_sources,omitempty"`  // cases with such an item
	Items        Range          `json:"items"`
	CaseBytes    Range          `json:"case_bytes"`
	ItemBytes    Range          `json:"item_bytes"`
	// Error says why a listed corpus can't be loaded.
	Error string `json:"error,omitempty"`
}

// Range is the least, the median and the greatest of some counts.
type Range struct {
	Min    int `json:"min"`
	Median int `json:"median"`
	Max    int `json:"max"`
}

func rangeOf(n []int) Range {
	if len(n) == 0 {
		return Range{}
	}
	sort.Ints(n)
	return Range{n[0], n[len(n)/2], n[len(n)-1]}
}

func head(c *corpus.Corpus) Stats {
	return Stats{
		Name: c.Meta.Name, Version: c.Meta.Version, Purpose: c.Meta.Purpose, Origin: c.Meta.Origin, Digest: c.Digest,
		Cases: len(c.Cases), Families: len(c.Families()),
	}
}

// Count loads the labels of c and counts.
func Count(c *corpus.Corpus) (Stats, error) {
	labels, err := Load("", c)
	if err != nil {
		return Stats{}, err
	}
	s := head(c)
	s.Classes, s.Toolchains, s.Difficulties = map[string]int{}, map[string]int{}, map[string]int{}
	s.ItemSources, s.Sources = map[string]int{}, Sources(labels)
	for _, id := range c.Taxonomy.IDs() {
		s.Classes[id] = 0
	}
	var items, caseBytes, itemBytes []int
	for _, k := range c.Cases {
		l := labels[k.ID]
		s.Classes[l.Class]++
		s.Toolchains[l.Toolchain]++
		s.Difficulties[l.Difficulty]++
		total, seen := 0, map[string]bool{}
		for _, e := range k.Evidence {
			total += len(e.Text)
			itemBytes = append(itemBytes, len(e.Text))
			if !seen[e.Source] {
				s.ItemSources[e.Source]++
			}
			seen[e.Source] = true
		}
		items, caseBytes = append(items, len(k.Evidence)), append(caseBytes, total)
	}
	s.Items, s.CaseBytes, s.ItemBytes = rangeOf(items), rangeOf(caseBytes), rangeOf(itemBytes)
	return s, nil
}

// Rows lists the counts for a table of what, value and cases.
func (s Stats) Rows() [][]string {
	var rows [][]string
	for _, group := range []struct {
		what   string
		counts map[string]int
	}{{"class", s.Classes}, {"toolchain", s.Toolchains}, {"difficulty", s.Difficulties}, {"label source", s.Sources}, {"item source", s.ItemSources}} {
		names := make([]string, 0, len(group.counts))
		for name := range group.counts {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			rows = append(rows, []string{group.what, name, fmt.Sprint(group.counts[name])})
		}
	}
	for _, r := range []struct {
		what string
		r    Range
	}{{"items a case", s.Items}, {"bytes a case", s.CaseBytes}, {"bytes an item", s.ItemBytes}} {
		rows = append(rows, []string{r.what, "least, median, most", fmt.Sprintf("%d, %d, %d", r.r.Min, r.r.Median, r.r.Max)})
	}
	return rows
}

// List heads the corpora that root and the binary offer. One that can't be
// loaded is listed with its error.
func List(root string) ([]Stats, error) {
	var out []Stats
	for _, name := range corpus.Names(root) {
		c, err := corpus.Find(root, name)
		if err != nil {
			out = append(out, Stats{Name: name, Error: err.Error()})
			continue
		}
		out = append(out, head(c))
	}
	return out, nil
}

// Verify finds a frozen corpus by name or folder, compares it byte by byte
// with its SHA256SUMS and checks cases and labels (H-001).
func Verify(root, name string) (Stats, error) {
	c, err := corpus.Find(root, name)
	if err != nil {
		return Stats{}, err
	}
	if err := c.MustBeFrozen(); err != nil {
		return Stats{}, err
	}
	if err := Check(c); err != nil {
		return Stats{}, err
	}
	return head(c), nil
}
