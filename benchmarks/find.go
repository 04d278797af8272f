package benchmarks

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/specialists/route"
)

// shipped holds suites, routes and schemas, so that an installed
// binary works outside a checkout.
//
//go:embed suites schema routes.yaml
var shipped embed.FS

// ErrNotFound means that no suite of that name is there (exit 2).
var ErrNotFound = errors.New("not found")

// ErrPin means that a corpus is not the one that the suite pins (exit 6).
var ErrPin = errors.New("corpus differs from its pin")

// read finds a file of this package: the path itself when name is one, else
// <root>/benchmarks/<folder>/<name>.yaml, else the shipped one.
func read(root, folder, name string) (file string, data []byte, err error) {
	if strings.ContainsAny(name, "/\\") || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		data, err = os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil, fmt.Errorf("%w: no file %s", ErrNotFound, name)
		}
		return name, data, err
	}
	file = filepath.Join(root, "benchmarks", folder, name+".yaml")
	if data, err = os.ReadFile(file); err == nil {
		return file, data, nil
	}
	inside := folder + "/" + name + ".yaml"
	if folder == "" {
		inside = name + ".yaml"
	}
	if data, err = shipped.ReadFile(inside); err == nil {
		return "shipped:" + name, data, nil
	}
	return name, nil, fmt.Errorf("%w: no %s named %q; known: %s", ErrNotFound, strings.TrimSuffix(folder, "s"), name, strings.Join(names(root, folder), ", "))
}

// names lists what a checkout at root and the binary hold in folder, sorted.
func names(root, folder string) []string {
	var out []string
	add := func(fsys fs.FS, dir string) {
		entries, err := fs.ReadDir(fsys, dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			if n, ok := strings.CutSuffix(e.Name(), ".yaml"); ok && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	add(os.DirFS(root), "benchmarks/"+folder)
	add(shipped, folder)
	slices.Sort(out)
	return out
}

// SuiteNames lists the suites of a checkout at root and the shipped ones.
func SuiteNames(root string) []string { return names(root, "suites") }

// FindSuite reads a suite by name or path.
func FindSuite(root, name string) (Suite, error) {
	library, err := Routes(root)
	if err != nil {
		return Suite{}, err
	}
	file, data, err := read(root, "suites", name)
	if err != nil {
		return Suite{}, err
	}
	return ParseSuite(file, data, library)
}

// Routes reads the library of named routes.
func Routes(root string) (map[string]route.Spec, error) {
	file, data, err := read(root, "", "routes")
	if err != nil {
		return nil, err
	}
	var lib struct {
		Routes map[string]route.Spec `yaml:"routes"`
	}
	d, err := decode(file, data, &lib)
	if err != nil {
		return nil, err
	}
	return lib.Routes, checkRoutes(d, lib.Routes)
}

// Schema returns a shipped JSON Schema: "suite" or "routes".
func Schema(name string) ([]byte, error) {
	return shipped.ReadFile("schema/" + name + ".schema.json")
}

// LoadCorpora loads what a suite asks and compares it with the pins.
func (s Suite) LoadCorpora(root string) ([]*corpus.Corpus, error) {
	out := make([]*corpus.Corpus, len(s.Corpora))
	for i, pin := range s.Corpora {
		c, err := corpus.Find(root, pin.Name)
		if err != nil {
			return nil, fmt.Errorf("suite %s: %w", s.Name, err)
		}
		if pin.Digest != "" && c.Digest != pin.Digest {
			got := c.Digest
			if got == "" {
				got = "no digest, for it is not frozen"
			}
			return nil, fmt.Errorf("%w: corpus %s in %s has %s, suite %s pins %s; restore the corpus, or pin the new digest in the suite", ErrPin, pin.Name, c.Dir, got, s.Name, pin.Digest)
		}
		out[i] = c
	}
	return out, nil
}
