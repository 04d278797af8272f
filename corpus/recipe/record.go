package recipe

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/renameio/v2"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/specialists/contract"
)

// Guide is the labeling guide that constructed labels follow.
const Guide = "failure-classes/1"

// Options say what to run.
type Options struct {
	// Only names the recipes to run; empty means all. The cases of the others
	// are kept as they are.
	Only []string
	// Now gives the label date.
	Now func() time.Time
	// Progress, when set, is told each result as it comes.
	Progress func(Result)
}

// Func is the shape of Record and Check.
type Func func(ctx context.Context, dir string, opt Options) ([]Result, error)

// Result says how one run of a recipe went.
type Result struct {
	Recipe string `json:"recipe"` // with "#variant" where there is one
	Case   string `json:"case"`
	// Status is recorded, held, moved, skipped or failed; held and moved are
	// those of Check.
	Status string `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Similarity is the lowest of all evidence items; only of Check.
	Similarity float64 `json:"similarity,omitempty"`
}

// The statuses of a Result.
const (
	Recorded = "recorded"
	Held     = "held"
	Moved    = "moved"
	Skipped  = "skipped"
	Failed   = "failed"
)

// ErrFailed means that at least one recipe did not do what it says.
var ErrFailed = errors.New("recipes failed")

// entry is a case with its label.
type entry struct {
	c corpus.Case
	l label.Label
}

// Record runs the recipes in dir/recipes where their tools are present and
// writes dir's cases.jsonl and labels.jsonl, in the order of the opaque ids.
// Missing corpus.yaml, taxonomy.yaml and guide.md are written too. A recipe
// whose tools are missing, or that fails, keeps the case it had; one that is
// gone loses its case. A frozen corpus is refused with corpus.ErrChanged.
func Record(ctx context.Context, dir string, opt Options) ([]Result, error) {
	if _, err := os.Stat(filepath.Join(dir, corpus.SumsFile)); err == nil {
		return nil, fmt.Errorf("%s is frozen; check it with recheck, or record into a new corpus: %w", dir, corpus.ErrChanged)
	}
	specs, err := List(os.DirFS(dir), dir)
	if err != nil {
		return nil, err
	}
	if err := known(opt.Only, specs); err != nil {
		return nil, err
	}
	if err := prepare(dir); err != nil {
		return nil, err
	}
	isolation, err := isolate(ctx)
	if err != nil {
		return nil, err
	}
	meta, taxonomy, err := readHead(dir)
	if err != nil {
		return nil, err
	}
	kept := existing(dir)
	entries := map[string]entry{}
	var results []Result
	failed := 0
	for _, s := range specs {
		if !taxonomy.Has(s.Class) {
			return nil, fmt.Errorf("recipe %s: class %q is not in the taxonomy: %w", s.Name, s.Class, corpus.ErrInvalid)
		}
		for _, r := range s.runs() {
			id := opaque("c-", meta.Name, r.name())
			old, had := kept[id]
			res := Result{Recipe: r.name(), Case: id}
			if !wanted(opt.Only, s.Name) {
				if had {
					entries[id] = old
				}
				continue
			}
			if lacks := missing(s.Needs); len(lacks) > 0 {
				res.Status, res.Detail = Skipped, "missing: "+strings.Join(lacks, ", ")
			} else if e, err := recordOne(ctx, isolation, dir, meta, taxonomy, r, opt.Now()); err != nil {
				res.Status, res.Detail = Failed, err.Error()
				failed++
			} else {
				res.Status, entries[id] = Recorded, e
			}
			if res.Status != Recorded && had {
				entries[id] = old
			}
			results = append(results, res)
			if opt.Progress != nil {
				opt.Progress(res)
			}
			if ctx.Err() != nil {
				return results, ctx.Err()
			}
		}
	}
	if err := write(dir, entries); err != nil {
		return results, err
	}
	if failed > 0 {
		return results, fmt.Errorf("%w: %d of %d", ErrFailed, failed, len(results))
	}
	return results, nil
}

// known refuses names of recipes that aren't there.
func known(only []string, specs []Spec) error {
	for _, o := range only {
		if !slices.ContainsFunc(specs, func(s Spec) bool { return s.Name == o }) {
			return fmt.Errorf("recipe %s: %w; the folder recipes holds them", o, corpus.ErrNotFound)
		}
	}
	return nil
}

func wanted(only []string, name string) bool {
	return len(only) == 0 || slices.Contains(only, name)
}

// recordOne runs one recipe and makes its case and label.
func recordOne(ctx context.Context, isolation []string, dir string, meta corpus.Meta, tax contract.Taxonomy, r run, now time.Time) (entry, error) {
	items, err := execute(ctx, isolation, filepath.Join(dir, corpus.RecipesDir, r.spec.Name), r)
	if err != nil {
		return entry{}, err
	}
	for name, text := range items {
		for _, class := range tax.IDs() {
			if strings.Contains(class, "_") && strings.Contains(text, class) {
				return entry{}, fmt.Errorf("evidence file %s holds the class id %s; choose other words in the set-up", name, class)
			}
		}
	}
	digest, err := label.RecipeDigest(os.DirFS(dir), path.Join(corpus.RecipesDir, r.spec.Name))
	if err != nil {
		return entry{}, fmt.Errorf("hash recipe: %w", err)
	}
	return assemble(meta, r, items, digest, now), nil
}

// assemble makes the case and the label of one run from its evidence.
func assemble(meta corpus.Meta, r run, items map[string]string, digest string, now time.Time) entry {
	w := corpus.World{
		Workspace: opaque("ws-", meta.Name, r.name(), "workspace"),
		Run:       opaque("run-", meta.Name, r.name(), "run"),
		Branch:    opaque("br-", meta.Name, r.name(), "branch"),
	}
	w.Caller = contract.Caller{
		System: contract.SystemForgeAgent, Component: "run_typed_agent", AgentID: "forge.release-helper",
		AgentVersion: "1.0.0", Role: "operator", WorkspaceID: w.Workspace, RunID: w.Run, BranchID: w.Branch,
	}
	c := corpus.Case{
		ID: opaque("c-", meta.Name, r.name()), Family: opaque("f-", meta.Name, r.spec.Family),
		Task: meta.TaskClass, World: w, Tags: r.spec.Tags,
	}
	l := label.Label{
		Case: c.ID, Class: r.spec.Class, Acceptable: r.spec.Acceptable, Evidence: []string{}, Cause: r.spec.Cause,
		Source: label.SourceConstructed, Difficulty: r.spec.Difficulty, Toolchain: r.spec.Toolchain,
		Recipe: corpus.RecipesDir + "/" + r.name(), RecipeSHA256: digest, Date: now.UTC().Format(time.DateOnly), Guide: Guide,
	}
	carries := map[string]bool{}
	for _, name := range r.spec.Evidence {
		carries[name] = true
	}
	for i, name := range names(items) {
		m := itemName.FindStringSubmatch(name)
		media := mediaTypes[m[3]]
		if media == "" {
			media = "text/plain"
		}
		sum := sha256.Sum256([]byte(items[name]))
		e := contract.EvidenceItem{
			ID: fmt.Sprintf("e%d", i+1), Source: m[2], Workspace: w.Workspace, MediaType: media,
			Text: items[name], SHA256: hex.EncodeToString(sum[:]),
		}
		c.Evidence = append(c.Evidence, e)
		if carries[name] {
			l.Evidence = append(l.Evidence, e.ID)
		}
	}
	return entry{c, l}
}

// existing gives the cases and labels that dir has, by case id; an unreadable
// corpus counts as empty, for it is about to be written anew.
func existing(dir string) map[string]entry {
	out := map[string]entry{}
	c, err := corpus.Load(dir)
	if err != nil {
		return out
	}
	data, err := c.ReadFile(corpus.LabelsFile)
	if err != nil {
		return out
	}
	for _, line := range bytes.Split(data, []byte("\n")) {
		var l label.Label
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		if k, ok := c.Case(l.Case); ok {
			out[l.Case] = entry{k, l}
		}
	}
	return out
}

// write puts the files of the corpus in place, each by a rename.
func write(dir string, entries map[string]entry) error {
	ids := make([]string, 0, len(entries))
	for id := range entries {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	var cases, labels bytes.Buffer
	counts := map[string]int{}
	for _, id := range ids {
		for _, p := range []struct {
			b *bytes.Buffer
			v any
		}{{&cases, entries[id].c}, {&labels, entries[id].l}} {
			enc := json.NewEncoder(p.b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(p.v); err != nil {
				return fmt.Errorf("write case %s: %w", id, err)
			}
		}
		counts[string(entries[id].l.Source)]++
	}
	for name, data := range map[string][]byte{corpus.CasesFile: cases.Bytes(), corpus.LabelsFile: labels.Bytes()} {
		if err := renameio.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return setCounts(filepath.Join(dir, corpus.MetaFile), counts)
}

var countsBlock = regexp.MustCompile(`(?m)^label_sources:.*\n(?:[ \t]+.*\n?)*`)

// setCounts replaces label_sources in corpus.yaml, or adds it at the end.
func setCounts(name string, counts map[string]int) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("set label counts: %w", err)
	}
	block, err := yaml.Marshal(map[string]map[string]int{"label_sources": counts})
	if err != nil {
		return fmt.Errorf("set label counts: %w", err)
	}
	out := append(bytes.TrimRight(bytes.Clone(data), "\n"), '\n')
	if at := countsBlock.FindIndex(out); at != nil {
		out = slices.Concat(out[:at[0]], block, out[at[1]:])
	} else {
		out = append(out, block...)
	}
	if err := renameio.WriteFile(name, out, 0o644); err != nil {
		return fmt.Errorf("set label counts: %w", err)
	}
	return nil
}

// prepare writes the files that a new corpus folder lacks.
func prepare(dir string) error {
	taxonomy, guide := corpus.DefaultTaxonomy()
	meta := fmt.Sprintf(newMeta, filepath.Base(filepath.Clean(dir)))
	for name, data := range map[string][]byte{
		corpus.TaxonomyFile: taxonomy, corpus.GuideFile: guide, corpus.MetaFile: []byte(meta),
	} {
		p := filepath.Join(dir, name)
		if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := renameio.WriteFile(p, data, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

const newMeta = `# yaml-language-server: $schema=../schema/corpus.schema.json
name: %s
version: 1
task_class: failure_analysis
origin: >-
  Constructed by this project: real tools failed on a machine of ours after one known fault was injected. It is not
  the corpus that ADR-0006 speaks of, which is not public.
licence: Apache-2.0
purpose: development
goal: Find out why the stage failed, name the failure class and cite the evidence that shows the cause.
label_sources: {}
`

// readHead reads corpus.yaml and taxonomy.yaml, which must be there.
func readHead(dir string) (corpus.Meta, contract.Taxonomy, error) {
	var meta corpus.Meta
	c, err := corpus.ReadHead(dir)
	if err != nil {
		return meta, contract.Taxonomy{}, err
	}
	return c.Meta, c.Taxonomy, nil
}
