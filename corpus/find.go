package corpus

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// shipped holds the frozen corpora and taxonomies, so that an installed binary
// works outside a checkout.
//
//go:embed all:taxonomies all:pilot-v1
var shipped embed.FS

// DefaultTaxonomy gives the shipped taxonomy file and its labeling guide.
func DefaultTaxonomy() (taxonomy, guide []byte) {
	taxonomy, err := shipped.ReadFile("taxonomies/failure-classes.v1.yaml")
	if err == nil {
		guide, err = shipped.ReadFile("taxonomies/failure-classes.v1.md")
	}
	if err != nil {
		panic(err) // embedded at build time
	}
	return taxonomy, guide
}

// Folder finds a corpus folder by name or path: a folder of that path when it
// holds a corpus.yaml, else <root>/corpus/<name>. A bare name is a folder of the
// working directory only where no corpus of that name is known. Its error is
// ErrNotFound.
func Folder(root, name string) (string, error) {
	dir := filepath.Join(root, "corpus", name)
	if filepath.IsAbs(name) || strings.ContainsAny(name, `/\.`) {
		dir = name
	}
	if _, err := os.Stat(filepath.Join(dir, MetaFile)); err != nil {
		if _, err := os.Stat(filepath.Join(name, MetaFile)); err == nil && !slices.Contains(Names(root), name) {
			return name, nil
		}
		return "", fmt.Errorf("corpus %s: %w; known: %s", name, ErrNotFound, strings.Join(Names(root), ", "))
	}
	return dir, nil
}

// Find loads a corpus by name or folder as Folder finds it, else the shipped
// one of that name.
func Find(root, name string) (*Corpus, error) {
	dir, err := Folder(root, name)
	if err == nil {
		return Load(dir)
	}
	sub, suberr := fs.Sub(shipped, name)
	if suberr == nil {
		if _, suberr = fs.Stat(sub, MetaFile); suberr == nil {
			return LoadFS(sub, "shipped:"+name)
		}
	}
	return nil, err
}

// Names lists the corpora in <root>/corpus and the shipped ones, sorted.
func Names(root string) []string {
	seen := map[string]bool{}
	add := func(fsys fs.FS) {
		dirs, err := fs.ReadDir(fsys, ".")
		if err != nil {
			return
		}
		for _, d := range dirs {
			if _, err := fs.Stat(fsys, d.Name()+"/"+MetaFile); err == nil {
				seen[d.Name()] = true
			}
		}
	}
	add(os.DirFS(filepath.Join(root, "corpus")))
	add(shipped)
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
