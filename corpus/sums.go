package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"strings"
)

// File names that every corpus folder has or may have.
const (
	SumsFile     = "SHA256SUMS"
	MetaFile     = "corpus.yaml"
	TaxonomyFile = "taxonomy.yaml"
	GuideFile    = "guide.md"
	CasesFile    = "cases.jsonl"
	LabelsFile   = "labels.jsonl"
	AuditsFile   = "audits.jsonl" // has a digest of its own; not in SHA256SUMS
	RecipesDir   = "recipes"
)

// files lists every regular file of the corpus but SHA256SUMS and
// audits.jsonl, sorted. A symbolic link or another special file is refused: a
// corpus is exactly the bytes in its folder.
func files(fsys fs.FS, dir string) ([]string, error) {
	var names []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return invalid(join(dir, name), 0, "not a regular file (%s); replace the link by the file itself", d.Type())
		case strings.ContainsAny(name, "\n\r\\"):
			return invalid(join(dir, name), 0, "newline or backslash in the file name; rename it")
		case name == SumsFile || name == AuditsFile:
			return nil
		}
		names = append(names, name)
		return nil
	})
	if err != nil && !errors.Is(err, ErrInvalid) {
		return nil, fmt.Errorf("list corpus %s: %w", dir, err)
	}
	sort.Strings(names)
	return names, err
}

// sum is the hex SHA-256 of one file.
func sum(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// readSums parses SHA256SUMS: one "<hex>  <path>" a line, sorted by path. It
// returns nil and no error when the corpus is not frozen.
func readSums(fsys fs.FS, dir string) (sums map[string]string, digest string, err error) {
	data, err := fs.ReadFile(fsys, SumsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		if _, lerr := files(fsys, dir); errors.Is(lerr, ErrInvalid) {
			return nil, "", lerr // a link, most likely
		}
		return nil, "", fmt.Errorf("read %s: %w", join(dir, SumsFile), err)
	}
	bad := func(line int, what string) (map[string]string, string, error) {
		return nil, "", &ChangedError{File: join(dir, SumsFile), Line: line, What: what}
	}
	if len(data) == 0 || data[len(data)-1] != '\n' {
		return bad(0, "is cut off")
	}
	sums = map[string]string{}
	last := ""
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		hexsum, name, ok := strings.Cut(line, "  ")
		raw, herr := hex.DecodeString(hexsum)
		switch {
		case !ok || herr != nil || len(raw) != sha256.Size || hexsum != strings.ToLower(hexsum) || strings.Contains(name, "\r"):
			return bad(i+1, "is not a line of this tool")
		case !fs.ValidPath(name) || name == SumsFile || name == AuditsFile:
			return bad(i+1, "names a file that can't be in it")
		case name <= last:
			return bad(i+1, "is not sorted or names a file twice")
		}
		last = name
		sums[name] = hexsum
	}
	d := sha256.Sum256(data)
	return sums, "sha256:" + hex.EncodeToString(d[:]), nil
}

// checkSums compares every file with its line in SHA256SUMS.
func checkSums(fsys fs.FS, dir string, sums map[string]string) error {
	names, err := files(fsys, dir)
	if err != nil {
		return err
	}
	present := map[string]bool{}
	for _, name := range names {
		present[name] = true
	}
	listed := make([]string, 0, len(sums))
	for name := range sums {
		listed = append(listed, name)
	}
	sort.Strings(listed)
	for _, name := range listed {
		if !present[name] {
			return &ChangedError{File: join(dir, name), What: "is listed in SHA256SUMS but missing"}
		}
		got, err := sum(fsys, name)
		if err != nil {
			return fmt.Errorf("read %s: %w", join(dir, name), err)
		}
		if got != sums[name] {
			return &ChangedError{File: join(dir, name), What: "has changed"}
		}
	}
	for _, name := range names {
		if _, ok := sums[name]; !ok {
			return &ChangedError{File: join(dir, name), What: "was added"}
		}
	}
	return nil
}

// makeSums renders SHA256SUMS for the files there are now.
func makeSums(fsys fs.FS, dir string) ([]byte, error) {
	names, err := files(fsys, dir)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, name := range names {
		s, err := sum(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", join(dir, name), err)
		}
		fmt.Fprintf(&b, "%s  %s\n", s, name)
	}
	return b.Bytes(), nil
}
