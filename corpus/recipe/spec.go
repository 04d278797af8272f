package recipe

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"sort"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/internal/strict"
	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/specialists/contract"
)

// MaxItem bounds one evidence item, in bytes.
const MaxItem = 10 << 10

// Spec is recipe.yaml.
type Spec struct {
	// Toolchain names the real tools that fail, e.g. "go" or "postgresql".
	Toolchain string `yaml:"toolchain"`
	// Needs are the executables without which the recipe is skipped.
	Needs []string `yaml:"needs"`
	// Class is the injected fault's class, Acceptable further right ones.
	Class      string   `yaml:"class"`
	Acceptable []string `yaml:"acceptable,omitempty"`
	Difficulty string   `yaml:"difficulty"` // easy or hard
	// Cause says the injected fault in words.
	Cause string `yaml:"cause"`
	// Evidence are the files that carry the cause, as named in $OUT.
	Evidence []string `yaml:"evidence"`
	// Family is the fault incident; variants and recipes of one incident
	// share it.
	Family string `yaml:"family"`
	// Variants make one case each; run.sh finds the name in $VARIANT.
	Variants []string `yaml:"variants,omitempty"`
	Tags     []string `yaml:"tags,omitempty"`
	Notes    string   `yaml:"notes,omitempty"`

	// Name is the folder's name.
	Name string `yaml:"-"`
}

var (
	plain    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	itemName = regexp.MustCompile(`^(\d\d)-([a-z_]+)\.([a-z0-9]+)$`)

	sources = map[string]bool{
		"stage_record": true, "stage_output": true, "service_log": true, "config": true,
		"environment": true, "history": true, "source": true, "data": true,
	}
	mediaTypes = map[string]string{
		"json": "application/json", "yaml": "application/yaml", "yml": "application/yaml",
		"toml": "application/toml", "xml": "application/xml",
	}
)

// List reads the recipes of a corpus, sorted by name. Errors wrap
// corpus.ErrInvalid.
func List(fsys fs.FS, dir string) ([]Spec, error) {
	entries, err := fs.ReadDir(fsys, corpus.RecipesDir)
	if err != nil {
		return nil, fmt.Errorf("list recipes of %s: %w", dir, err)
	}
	var specs []Spec
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		s, err := read(fsys, dir, e.Name())
		if err != nil {
			return nil, err
		}
		specs = append(specs, s)
	}
	sort.Slice(specs, func(i, j int) bool { return specs[i].Name < specs[j].Name })
	return specs, nil
}

func read(fsys fs.FS, dir, name string) (Spec, error) {
	rel := path.Join(corpus.RecipesDir, name, "recipe.yaml")
	file := path.Join(dir, rel)
	data, err := fs.ReadFile(fsys, rel)
	if err != nil {
		return Spec{}, strict.Errorf(file, 0, "missing; a recipe needs it")
	}
	s := Spec{Name: name}
	if err := strict.YAML(file, data, &s); err != nil {
		return Spec{}, err
	}
	if _, err := fs.Stat(fsys, path.Join(corpus.RecipesDir, name, "run.sh")); err != nil {
		return Spec{}, strict.Errorf(path.Join(dir, corpus.RecipesDir, name, "run.sh"), 0, "missing; a recipe needs it")
	}
	if msg := s.fault(); msg != "" {
		return Spec{}, strict.Errorf(file, 0, "%s", msg)
	}
	return s, nil
}

// fault says what is wrong with a recipe.yaml, or "".
func (s Spec) fault() string {
	switch {
	case !plain.MatchString(s.Name):
		return fmt.Sprintf("recipe name %q; use small letters, digits and hyphens", s.Name)
	case s.Toolchain == "" || s.Class == "" || s.Cause == "":
		return "toolchain, class or cause is empty; write all three"
	case s.Difficulty != label.Easy && s.Difficulty != label.Hard:
		return fmt.Sprintf("difficulty %q; write easy or hard", s.Difficulty)
	case !plain.MatchString(s.Family):
		return fmt.Sprintf("family %q; use small letters, digits and hyphens", s.Family)
	case len(s.Evidence) == 0 && s.Class != contract.InsufficientEvidence:
		return "evidence is empty; name the files that carry the cause"
	}
	seen := map[string]bool{}
	for _, v := range s.Variants {
		if !plain.MatchString(v) || seen[v] {
			return fmt.Sprintf("variant %q is no plain name or stands twice", v)
		}
		seen[v] = true
	}
	for _, e := range s.Evidence {
		if m := itemName.FindStringSubmatch(e); m == nil || !sources[m[2]] {
			return fmt.Sprintf("evidence %q; name files as NN-<source>.<ext>", e)
		}
	}
	return ""
}

// runs are the names under which a recipe makes cases: itself, or one for each
// variant.
func (s Spec) runs() []run {
	if len(s.Variants) == 0 {
		return []run{{spec: s}}
	}
	out := make([]run, len(s.Variants))
	for i, v := range s.Variants {
		out[i] = run{spec: s, variant: v}
	}
	return out
}

// run is one execution of a recipe.
type run struct {
	spec    Spec
	variant string
}

// name is the recipe's name, with "#variant" where there is one.
func (r run) name() string {
	if r.variant == "" {
		return r.spec.Name
	}
	return r.spec.Name + "#" + r.variant
}

// opaque makes an id that says nothing: prefix and 8 hex digits of the SHA-256
// of the parts, which are separated by NUL.
func opaque(prefix string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return prefix + hex.EncodeToString(h.Sum(nil)[:4])
}
