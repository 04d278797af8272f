package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/fabriccore/assay/corpus/internal/strict"
	"github.com/fabriccore/assay/specialists/contract"
)

// Load reads the corpus in folder dir. A frozen one is first compared byte by
// byte with its SHA256SUMS (H-001). Errors wrap ErrChanged, ErrInvalid or
// ErrNotFound.
func Load(dir string) (*Corpus, error) {
	fsys, err := open(dir)
	if err != nil {
		return nil, err
	}
	return LoadFS(fsys, dir)
}

// open gives the folder as a file system that no symbolic link leads out of.
func open(dir string) (fs.FS, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("corpus folder %s: %w", dir, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open corpus: %w", err)
	}
	return root.FS(), nil
}

// LoadFS reads a corpus from any file system; dir is used in messages only.
func LoadFS(fsys fs.FS, dir string) (*Corpus, error) {
	sums, digest, err := readSums(fsys, dir)
	if err != nil {
		return nil, err
	}
	if sums != nil {
		if err := checkSums(fsys, dir, sums); err != nil {
			return nil, err
		}
	} else if _, err := files(fsys, dir); err != nil {
		return nil, err
	}
	c := &Corpus{Dir: dir, Digest: digest, CaseDigest: map[string]string{}, fsys: fsys, sums: sums}
	if err := c.readMeta(); err != nil {
		return nil, err
	}
	if err := c.readTaxonomy(); err != nil {
		return nil, err
	}
	if err := c.readCases(); err != nil {
		return nil, err
	}
	return c, nil
}

// Verify compares a frozen corpus with its SHA256SUMS and checks that it loads.
// It returns the digest; a corpus that isn't frozen is ErrInvalid.
func Verify(dir string) (string, error) {
	c, err := Load(dir)
	if err != nil {
		return "", err
	}
	return c.Digest, c.MustBeFrozen()
}

// MustBeFrozen is ErrInvalid for a corpus that isn't frozen.
func (c *Corpus) MustBeFrozen() error {
	if !c.Frozen() {
		return invalid(c.Path(SumsFile), 0, "missing, so nothing can be verified; freeze the corpus first")
	}
	return nil
}

// Frozen reports whether the corpus has a SHA256SUMS, which then held on load.
func (c *Corpus) Frozen() bool { return c.sums != nil }

// FS is the corpus' own file system, from which labels and recipes are read.
func (c *Corpus) FS() fs.FS { return c.fsys }

// Path names a file of the corpus for a message.
func (c *Corpus) Path(name string) string { return join(c.Dir, name) }

// ReadFile reads one file of the corpus; of a frozen one only the bytes that
// were frozen.
func (c *Corpus) ReadFile(name string) ([]byte, error) {
	data, err := fs.ReadFile(c.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, invalid(c.Path(name), 0, "missing; a corpus needs it")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", c.Path(name), err)
	}
	if c.sums != nil && name != AuditsFile {
		if d := sha256.Sum256(data); hex.EncodeToString(d[:]) != c.sums[name] {
			return nil, &ChangedError{File: c.Path(name), What: "has changed"}
		}
	}
	return data, nil
}

// Case finds a case by id.
func (c *Corpus) Case(id string) (Case, bool) {
	if c.at != nil {
		i, ok := c.at[id]
		if !ok {
			return Case{}, false
		}
		return c.Cases[i], true
	}
	for _, k := range c.Cases {
		if k.ID == id {
			return k, true
		}
	}
	return Case{}, false
}

// Families counts the cases of each family.
func (c *Corpus) Families() map[string]int {
	n := map[string]int{}
	for _, k := range c.Cases {
		n[k.Family]++
	}
	return n
}

func (c *Corpus) readMeta() error {
	data, err := c.ReadFile(MetaFile)
	if err != nil {
		return err
	}
	file := c.Path(MetaFile)
	if err := strict.YAML(file, data, &c.Meta); err != nil {
		return err
	}
	m := c.Meta
	switch {
	case !opaqueID.MatchString(m.Name):
		return invalid(file, 0, "name %q; use small letters, digits and hyphens", m.Name)
	case m.Version < 1:
		return invalid(file, 0, "version is %d; the first version is 1", m.Version)
	case !taskClasses[m.TaskClass]:
		return invalid(file, 0, "task_class %q is none of the nine task classes", m.TaskClass)
	case m.Origin == "":
		return invalid(file, 0, "origin is empty; say whose data this is")
	case m.Licence == "":
		return invalid(file, 0, "licence is empty; name it")
	case m.Purpose != PurposeFrozen && m.Purpose != PurposeDevelopment:
		return invalid(file, 0, "purpose %q; write %s or %s", m.Purpose, PurposeFrozen, PurposeDevelopment)
	case m.Goal == "":
		return invalid(file, 0, "goal is empty; write the goal text that every case shares")
	}
	return nil
}

func (c *Corpus) readTaxonomy() error {
	data, err := c.ReadFile(TaxonomyFile)
	if err != nil {
		return err
	}
	t, err := ParseTaxonomy(c.Path(TaxonomyFile), data)
	if err != nil {
		return err
	}
	d := sha256.Sum256(data)
	c.Taxonomy, c.TaxonomyDigest = t, "sha256:"+hex.EncodeToString(d[:])
	return nil
}

// ParseTaxonomy decodes and checks a taxonomy file: closed, versioned,
// every class defined and told apart from its near miss, and
// insufficient_evidence among them. file is used in messages.
func ParseTaxonomy(file string, data []byte) (contract.Taxonomy, error) {
	var t contract.Taxonomy
	if err := strict.YAML(file, data, &t); err != nil {
		return t, err
	}
	if t.Name == "" || t.Version < 1 {
		return t, invalid(file, 0, "name or version is missing; a taxonomy is named by both")
	}
	seen := map[string]bool{}
	for _, k := range t.Classes {
		switch {
		case !classID.MatchString(k.ID):
			return t, invalid(file, 0, "class id %q; use small letters, digits and underscores", k.ID)
		case seen[k.ID]:
			return t, invalid(file, 0, "class %s stands twice; keep one", k.ID)
		case k.Definition == "" || k.Gloss == "" || k.Rule == "":
			return t, invalid(file, 0, "class %s lacks a definition, gloss or rule; write it", k.ID)
		}
		seen[k.ID] = true
	}
	for _, k := range t.Classes {
		if !seen[k.NearMiss] || k.NearMiss == k.ID {
			return t, invalid(file, 0, "near_miss %q of class %s is no other class of this taxonomy", k.NearMiss, k.ID)
		}
	}
	if !seen[contract.InsufficientEvidence] || len(t.Classes) < 2 {
		return t, invalid(file, 0, "needs at least one class and %s", contract.InsufficientEvidence)
	}
	return t, nil
}

// ReadHead reads corpus.yaml and taxonomy.yaml only, for a corpus whose cases
// are still to be made. The corpus has no cases and no digest.
func ReadHead(dir string) (*Corpus, error) {
	fsys, err := open(dir)
	if err != nil {
		return nil, err
	}
	c := &Corpus{Dir: dir, CaseDigest: map[string]string{}, fsys: fsys}
	if err := c.readMeta(); err != nil {
		return nil, err
	}
	return c, c.readTaxonomy()
}
