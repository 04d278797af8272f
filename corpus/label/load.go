package label

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/internal/strict"
	"github.com/fabriccore/assay/specialists/contract"
)

// ErrModel means that a label says it comes from a model, which is refused
// everywhere. It comes together with corpus.ErrInvalid.
var ErrModel = errors.New("label by a model")

// Difficulties of a case.
const (
	Easy = "easy"
	Hard = "hard"
)

var (
	hexDigest  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	recipePath = regexp.MustCompile(`^recipes/[a-z0-9][a-z0-9-]*(#[a-z0-9][a-z0-9-]*)?$`)
)

// Load reads labels.jsonl of corpus c and joins it to the cases by id: each
// case has exactly one label and each label a case. An empty dir or c's own
// means the very files that c was loaded from; of a frozen corpus only the
// frozen bytes are read. Errors wrap corpus.ErrInvalid or corpus.ErrChanged.
func Load(dir string, c *corpus.Corpus) (map[string]Label, error) {
	if dir != "" && dir != c.Dir {
		other, err := corpus.Load(dir)
		if err != nil {
			return nil, err
		}
		if other.Digest != c.Digest {
			return nil, fmt.Errorf("labels in %s belong to another corpus than %s: %w", dir, c.Dir, corpus.ErrChanged)
		}
		c = other
	}
	data, err := c.ReadFile(corpus.LabelsFile)
	if err != nil {
		return nil, err
	}
	file := c.Path(corpus.LabelsFile)
	labels, lines := map[string]Label{}, map[string]int{}
	recipes := map[string]string{}
	err = strict.Lines(bytes.NewReader(data), file, func(line int, raw []byte) error {
		l, err := decode(file, line, raw)
		if err != nil {
			return err
		}
		if first, ok := lines[l.Case]; ok {
			return strict.Errorf(file, line, "case %s has a label already on line %d; keep one", l.Case, first)
		}
		k, ok := c.Case(l.Case)
		if !ok {
			return strict.Errorf(file, line, "label for case %q, which is not in %s; remove it or add the case", l.Case, corpus.CasesFile)
		}
		if msg := l.fault(k, c.Taxonomy); msg != "" {
			return strict.Errorf(file, line, "case %s: %s", l.Case, msg)
		}
		if l.Source == SourceConstructed {
			dir, _, _ := strings.Cut(l.Recipe, "#")
			if _, ok := recipes[dir]; !ok {
				d, err := RecipeDigest(c.FS(), dir)
				if err != nil {
					return strict.Errorf(file, line, "case %s: recipe %s: %v", l.Case, dir, err)
				}
				recipes[dir] = d
			}
			if recipes[dir] != l.RecipeSHA256 {
				return strict.Errorf(file, line, "case %s: recipe_sha256 is not that of %s (%s); record the case again", l.Case, dir, recipes[dir])
			}
		}
		labels[l.Case], lines[l.Case] = l, line
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, k := range c.Cases {
		if _, ok := labels[k.ID]; !ok {
			return nil, strict.Errorf(file, 0, "case %s has no label; add one", k.ID)
		}
	}
	return labels, nil
}

// Check is what corpus.Freeze asks before it writes: labels complete and valid,
// and the counts in corpus.yaml those of labels.jsonl.
func Check(c *corpus.Corpus) error {
	labels, err := Load("", c)
	if err != nil {
		return err
	}
	got := Sources(labels)
	for source := range c.Meta.LabelSources {
		if _, ok := got[source]; !ok {
			got[source] = 0
		}
	}
	names := make([]string, 0, len(got))
	for source := range got {
		names = append(names, source)
	}
	sort.Strings(names)
	for _, source := range names {
		if want := c.Meta.LabelSources[source]; want != got[source] {
			return strict.Errorf(c.Path(corpus.MetaFile), 0, "label_sources says %d %s labels, %s has %d; set the count", want, source, corpus.LabelsFile, got[source])
		}
	}
	return nil
}

// Sources counts labels by source, the count that every report prints.
func Sources(labels map[string]Label) map[string]int {
	n := map[string]int{}
	for _, l := range labels {
		n[string(l.Source)]++
	}
	return n
}

// decode reads one line of labels.jsonl. A label by a model is named as such,
// whatever else is wrong with it.
func decode(file string, line int, raw []byte) (Label, error) {
	var l Label
	if err := strict.Object(file, line, raw, &l); err != nil {
		return Label{}, err
	}
	if strings.EqualFold(strings.TrimSpace(string(l.Source)), "model") {
		err := strict.Errorf(file, line, "case %s: source is \"model\"; a model's answer is never a label, put it in %s", l.Case, corpus.AuditsFile)
		return Label{}, fmt.Errorf("%w (%w)", err, ErrModel)
	}
	return l, nil
}

// fault says what is wrong with a label of case k, or "".
func (l Label) fault(k corpus.Case, t contract.Taxonomy) string {
	if !t.Has(l.Class) {
		return fmt.Sprintf("class %q is not in the taxonomy; use one of %s", l.Class, strings.Join(t.IDs(), ", "))
	}
	accepted := map[string]bool{l.Class: true}
	for _, a := range l.Acceptable {
		if !t.Has(a) || accepted[a] {
			return fmt.Sprintf("acceptable class %q is not in the taxonomy or stands twice", a)
		}
		accepted[a] = true
	}
	if msg := l.evidenceFault(k); msg != "" {
		return msg
	}
	switch {
	case l.Cause == "":
		return "cause is empty; say it in words"
	case l.Difficulty != Easy && l.Difficulty != Hard:
		return fmt.Sprintf("difficulty %q; write %s or %s", l.Difficulty, Easy, Hard)
	case l.Toolchain == "":
		return "toolchain is empty; name the tools that failed"
	case l.Guide == "":
		return "guide is empty; name the labeling guide and its version"
	}
	if _, err := time.Parse(time.DateOnly, l.Date); err != nil {
		return fmt.Sprintf("date %q; write YYYY-MM-DD", l.Date)
	}
	return l.sourceFault()
}

func (l Label) evidenceFault(k corpus.Case) string {
	have, cited := map[string]bool{}, map[string]bool{}
	for _, e := range k.Evidence {
		have[e.ID] = true
	}
	for _, id := range l.Evidence {
		if !have[id] || cited[id] {
			return fmt.Sprintf("evidence %q is no item of the case or stands twice", id)
		}
		cited[id] = true
	}
	if len(l.Evidence) == 0 && l.Class != contract.InsufficientEvidence {
		return "evidence is empty; name the items that carry the cause"
	}
	return ""
}

func (l Label) sourceFault() string {
	switch l.Source {
	case SourceHuman:
		if l.Labeler == "" {
			return "a human label needs its labeler"
		}
	case SourceConstructed:
		if !recipePath.MatchString(l.Recipe) {
			return fmt.Sprintf("recipe %q; a constructed label names recipes/<name>", l.Recipe)
		}
		if !hexDigest.MatchString(l.RecipeSHA256) {
			return "recipe_sha256 is missing or no SHA-256 in hex"
		}
	case SourceImported:
		if l.Origin == "" || l.Revision == "" || l.Licence == "" {
			return "an imported label needs origin, revision and licence"
		}
	default:
		return fmt.Sprintf("source %q; write human, constructed or imported", l.Source)
	}
	return ""
}

// RecipeDigest is the hex SHA-256 over a recipe folder: of the sorted lines
// "<hex of file>  <path inside the folder>\n".
func RecipeDigest(fsys fs.FS, dir string) (string, error) {
	var lines []string
	err := fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file", name)
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		lines = append(lines, hex.EncodeToString(sum[:])+"  "+strings.TrimPrefix(name, dir+"/")+"\n")
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(lines) == 0 {
		return "", errors.New("folder is empty")
	}
	sort.Strings(lines)
	d := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(d[:]), nil
}
