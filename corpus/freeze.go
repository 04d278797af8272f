package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/google/renameio/v2"
)

// FreezeOptions say how a corpus is frozen.
type FreezeOptions struct {
	// Check is called with the loaded corpus and must refuse it when labels
	// are missing or bad; label.Check is the one to give. It is required:
	// this package knows no labels.
	Check func(*Corpus) error
	// NewVersion allows a frozen corpus that changed to be frozen again; the
	// version in corpus.yaml goes up by one.
	NewVersion bool
}

var versionLine = regexp.MustCompile(`(?m)^version:[ \t]*(\d+)[ \t]*$`)

// Freeze checks the corpus in dir and writes its SHA256SUMS; nothing else does.
// It returns the loaded, frozen corpus. Freezing an unchanged corpus again
// changes nothing; a changed one is ErrChanged without NewVersion.
func Freeze(dir string, opt FreezeOptions) (*Corpus, error) {
	if opt.Check == nil {
		return nil, errors.New("freeze: no check for labels was given")
	}
	fsys, err := open(dir)
	if err != nil {
		return nil, err
	}
	old, _, sumsErr := readSums(fsys, dir)
	if sumsErr != nil && !opt.NewVersion {
		return nil, sumsErr
	}
	if old != nil {
		switch err := checkSums(fsys, dir, old); {
		case err == nil:
			c, err := LoadFS(fsys, dir)
			if err != nil {
				return nil, err
			}
			return c, opt.Check(c)
		case !errors.Is(err, ErrChanged) || !opt.NewVersion:
			return nil, err
		}
	}
	c, err := LoadFS(unfrozen{fsys}, dir)
	if err != nil {
		return nil, err
	}
	if err := opt.Check(c); err != nil {
		return nil, err
	}
	if old != nil || sumsErr != nil {
		if err := raiseVersion(dir); err != nil {
			return nil, err
		}
	}
	data, err := makeSums(fsys, dir)
	if err != nil {
		return nil, err
	}
	if err := renameio.WriteFile(filepath.Join(dir, SumsFile), data, 0o644); err != nil {
		return nil, fmt.Errorf("write %s: %w", join(dir, SumsFile), err)
	}
	return Load(dir)
}

// raiseVersion adds one to the version in corpus.yaml, leaving its comments.
func raiseVersion(dir string) error {
	name := filepath.Join(dir, MetaFile)
	data, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("raise version: %w", err)
	}
	m := versionLine.FindSubmatchIndex(data)
	if m == nil {
		return invalid(join(dir, MetaFile), 0, "no line \"version: N\"; write the version so")
	}
	n, err := strconv.Atoi(string(data[m[2]:m[3]]))
	if err != nil {
		return invalid(join(dir, MetaFile), 0, "version is no number: %v", err)
	}
	var b bytes.Buffer
	b.Write(data[:m[2]])
	b.WriteString(strconv.Itoa(n + 1))
	b.Write(data[m[3]:])
	if err := renameio.WriteFile(name, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("raise version: %w", err)
	}
	return nil
}
