package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers/stats"
)

// The names of a run folder's files besides the streams of package journal.
const (
	ManifestName = "manifest.json"
	lockName     = "lock"
)

// Manifest is what a run was started with.
type Manifest struct {
	ID          string               `json:"id"`
	Created     time.Time            `json:"created"`
	Suite       benchmarks.Suite     `json:"suite"`
	Selection   benchmarks.Selection `json:"selection"`
	Arms        []benchmarks.Arm     `json:"arms"`
	Corpora     []CorpusRef          `json:"corpora"`
	Plan        PlanRef              `json:"plan"`
	Power       stats.Figure         `json:"power"` // before the run
	Threads     int                  `json:"threads"`
	Code        Code                 `json:"code"`
	Host        journal.Host         `json:"host"`
	Exploratory []string             `json:"exploratory,omitempty"`
	Tags        map[string]string    `json:"tags,omitempty"`

	sum string // hex SHA-256 of the file; "" before it is written or read
}

// CorpusRef names a corpus that a run asks.
type CorpusRef struct {
	Name           string `json:"name"`
	Version        int    `json:"version"`
	Dir            string `json:"dir"` // as it was given, or "shipped:NAME"
	Digest         string `json:"digest"`
	TaxonomyDigest string `json:"taxonomy_digest"`
	Purpose        string `json:"purpose"`
	Synthetic      bool   `json:"synthetic,omitempty"`
	Cases          int    `json:"cases"`
}

// PlanRef names a plan.
type PlanRef struct {
	Digest   string `json:"digest"`
	Trials   int    `json:"trials"`
	Cases    int    `json:"cases"`
	Families int    `json:"families"`
}

func newManifest(c *Config) Manifest {
	p, now := c.Plan, c.Now().UTC()
	m := Manifest{
		ID:      now.Format("20060102T150405.000Z") + "-" + p.Suite.Name + "-" + c.ShortID(),
		Created: now, Suite: p.Suite, Selection: p.Selection, Arms: p.Arms,
		Plan:  PlanRef{p.Digest, p.Len(), p.Cases(), p.Families()},
		Power: p.Power(), Threads: c.Threads,
		Code: c.Code, Host: c.Host, Exploratory: c.Exploratory, Tags: c.Tags,
	}
	for _, x := range p.Corpora {
		m.Corpora = append(m.Corpora, CorpusRef{
			x.Meta.Name, x.Meta.Version, x.Dir, x.Digest, x.TaxonomyDigest, x.Meta.Purpose, x.Meta.Synthetic, len(x.Cases),
		})
	}
	return m
}

// ReadManifest reads what the run in dir was started with.
func ReadManifest(dir string) (Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return Manifest{}, fmt.Errorf("%w: %s has no %s; 'assay runs' lists the runs", ErrRun, dir, ManifestName)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("read the manifest: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("%w: %s: %w", journal.ErrCorrupt, path, err)
	}
	m.sum = hexSum(data)
	return m, nil
}

// differs says in one line what the plan has that the run was not started
// with, "" if nothing: first corpora, then arms, then the rest.
func (m Manifest) differs(c *Config) string {
	if len(m.Corpora) != len(c.Plan.Corpora) || len(m.Arms) != len(c.Plan.Arms) {
		return "the number of corpora or arms differs"
	}
	for i, x := range c.Plan.Corpora {
		if d := m.Corpora[i].differs(x); d != "" {
			return d
		}
	}
	for i, a := range c.Plan.Arms {
		if old := m.Arms[i]; old.Name != a.Name || old.Digest != a.Digest {
			return fmt.Sprintf("arm %s had digest %s and arm %s now has %s: its models, options, prompts, rules or taxonomy changed", old.Name, old.Digest, a.Name, a.Digest)
		}
	}
	if m.Plan.Digest != c.Plan.Digest {
		return fmt.Sprintf("the plan had digest %s and now has %s: settings or cases changed", m.Plan.Digest, c.Plan.Digest)
	}
	if m.Code.Digest != c.Code.Digest {
		return fmt.Sprintf("the code was %s (%s) and now is %s (%s); resume with the same build", m.Code.Version, m.Code.Digest, c.Code.Version, c.Code.Digest)
	}
	return ""
}

func orNone(digest string) string {
	if digest == "" {
		return "none"
	}
	return digest
}

// CheckCorpora refuses, with ErrMismatch, other corpora than the run asks. It
// is what Resume checks first, for callers to whom a plan costs a server.
func (m Manifest) CheckCorpora(corpora []*corpus.Corpus) error {
	if len(corpora) != len(m.Corpora) {
		return fmt.Errorf("%w: can't resume %s: the number of corpora differs", ErrMismatch, m.ID)
	}
	for i, x := range corpora {
		if d := m.Corpora[i].differs(x); d != "" {
			return fmt.Errorf("%w: can't resume %s: %s", ErrMismatch, m.ID, d)
		}
	}
	return nil
}

func (r CorpusRef) differs(x *corpus.Corpus) string {
	if r.Name == x.Meta.Name && r.Digest == x.Digest {
		return ""
	}
	return fmt.Sprintf("corpus %s had digest %s and corpus %s now has %s", r.Name, orNone(r.Digest), x.Meta.Name, orNone(x.Digest))
}

// createFolder makes the run's folder and writes its manifest.
func createFolder(c *Config, m *Manifest) (dir string, err error) {
	dir = filepath.Join(c.Runs, m.ID)
	if err := os.MkdirAll(c.Runs, 0o755); err != nil {
		return "", unwritable("make the runs folder", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", unwritable("make the run's folder", err)
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		data = append(data, '\n')
		m.sum = hexSum(data)
		err = renameio.WriteFile(filepath.Join(dir, ManifestName), data, 0o644)
	}
	if err != nil {
		discard(dir)
		return "", unwritable("write the manifest", err)
	}
	return dir, nil
}

// discard takes the folder of a run that never began away again; a folder
// with anything else in it stays.
func discard(dir string) {
	_ = os.Remove(filepath.Join(dir, ManifestName))
	_ = os.Remove(filepath.Join(dir, lockName))
	_ = os.Remove(dir)
}

func unwritable(what string, err error) error {
	return fmt.Errorf("%w: %s: %w; free or unlock it, or choose another one with --runs DIR", ErrFolder, what, err)
}

// CheckFolder makes a folder and proves that it can be written, for callers to
// whom a run that can't begin costs a server. advice says what to do.
func CheckFolder(dir, advice string) error {
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = probe(dir)
	}
	if err != nil {
		if pe := (*os.PathError)(nil); errors.As(err, &pe) {
			err = pe.Err // the probe's own name says nothing
		}
		return fmt.Errorf("%w: %s: %w; %s", ErrFolder, dir, err, advice)
	}
	return nil
}

func probe(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4096))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	_ = os.Remove(f.Name())
	return err
}

// lock keeps other processes off a run folder until the returned func.
func lock(dir string) (unlock func(), err error) {
	l := flock.New(filepath.Join(dir, lockName))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the run: %w", err)
	}
	if !ok {
		return nil, fmt.Errorf("%w: another process writes %s; wait for it or end it", ErrLocked, dir)
	}
	return func() { _ = l.Unlock() }, nil
}

// Runs lists the run folders in a folder, oldest first.
func Runs(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	var out []string
	for _, e := range entries {
		dir := filepath.Join(folder, e.Name())
		if _, err := os.Stat(filepath.Join(dir, ManifestName)); err == nil {
			out = append(out, dir)
		}
	}
	return out, nil // ReadDir sorts, and names start with the time
}

// FindRun finds a run by folder, by id, by a unique part of its id, or the
// newest one as "latest".
func FindRun(folder, name string) (string, error) {
	if _, err := os.Stat(filepath.Join(name, ManifestName)); err == nil {
		return name, nil
	}
	all, err := Runs(folder)
	if err != nil {
		return "", err
	}
	if name == "latest" && len(all) > 0 {
		return all[len(all)-1], nil
	}
	var found []string
	for _, dir := range all {
		id := filepath.Base(dir)
		if id == name {
			return dir, nil
		}
		if strings.Contains(id, name) {
			found = append(found, dir)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("%w: no run %q in %s; 'assay runs' lists them", ErrRun, name, folder)
	}
	return "", fmt.Errorf("%w: %q fits %d runs in %s; give more of the id", ErrRun, name, len(found), folder)
}
