package runner

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/gowebpki/jcs"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner/journal"
)

// LooksName is the looks ledger's file in the state folder.
const LooksName = "looks.jsonl"

// Look is one started run on a frozen corpus. Hash is SHA-256 over the
// canonical JSON (RFC 8785) of the look without Hash; Prev is the Hash of the
// look before it.
type Look struct {
	Seq          int       `json:"seq"` // from 1
	At           time.Time `json:"at"`
	Run          string    `json:"run"`
	Suite        string    `json:"suite"`
	Corpus       string    `json:"corpus"`
	CorpusDigest string    `json:"corpus_digest"`
	PlanDigest   string    `json:"plan_digest"`
	Candidate    string    `json:"candidate,omitempty"`
	Arms         []ArmRef  `json:"arms"`
	Prev         string    `json:"prev"`
	Hash         string    `json:"hash"`
}

// ArmRef names an arm.
type ArmRef struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

func (l Look) hash() (string, error) {
	l.Hash = ""
	data, err := json.Marshal(l)
	if err == nil {
		data, err = jcs.Transform(data)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// ReadLooks reads the ledger and checks its chain; no ledger is no looks. A
// torn last line was never synced and is left out. Damage is
// journal.ErrCorrupt. A tail that was cut off at a line's end can't be seen
// here; a copy of the last Hash kept elsewhere shows it.
func ReadLooks(stateDir string) ([]Look, error) {
	looks, _, err := readLooks(filepath.Join(stateDir, LooksName))
	return looks, err
}

// readLooks also returns the bytes up to the end of the last whole line.
func readLooks(path string) (looks []Look, good int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the looks ledger: %w", err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	prev := ""
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return looks, good, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read the looks ledger: %w", err)
		}
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		var l Look
		err = dec.Decode(&l)
		if err == nil {
			var h string
			if h, err = l.hash(); err == nil && (h != l.Hash || l.Prev != prev || l.Seq != len(looks)+1) {
				err = errors.New("the chain is broken: a line was changed, added or taken out")
			}
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %s:%d: %w", journal.ErrCorrupt, path, len(looks)+1, err)
		}
		prev = l.Hash
		looks = append(looks, l)
		good += int64(len(line))
	}
}

// recordLooks appends one look for each frozen corpus of a run, synced, unless
// the ledger has it: a run that was killed before that is recorded on resume.
func recordLooks(c *Config, m Manifest) error {
	var looks []Look
	for _, x := range m.Corpora {
		if x.Purpose != corpus.PurposeFrozen || x.Digest == "" {
			continue
		}
		l := Look{At: m.Created, Run: m.ID, Suite: m.Suite.Name, Corpus: x.Name, CorpusDigest: x.Digest, PlanDigest: m.Plan.Digest, Candidate: m.Suite.Candidate}
		for _, a := range m.Arms {
			l.Arms = append(l.Arms, ArmRef{a.Name, a.Digest})
		}
		looks = append(looks, l)
	}
	if len(looks) == 0 {
		return nil
	}
	if c.StateDir == "" {
		return errors.New("runner: a run on a frozen corpus needs a state folder for the looks ledger (Q-44)")
	}
	if err := appendLooks(c.StateDir, looks); err != nil {
		if !errors.Is(err, journal.ErrCorrupt) {
			err = fmt.Errorf("%w: %w; free or unlock it, or choose another one with ASSAY_STATE=DIR", ErrFolder, err)
		}
		return fmt.Errorf("record the look: %w", err)
	}
	return nil
}

// unrecorded are the looks that the ledger does not have yet.
func unrecorded(looks, ledger []Look) []Look {
	return slices.DeleteFunc(looks, func(l Look) bool {
		return slices.ContainsFunc(ledger, func(old Look) bool { return old.Run == l.Run && old.CorpusDigest == l.CorpusDigest })
	})
}

func appendLooks(stateDir string, looks []Look) error {
	if err := os.MkdirAll(stateDir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(stateDir, LooksName)
	l := flock.New(path + ".lock")
	if err := l.Lock(); err != nil {
		return err
	}
	defer l.Unlock()
	before, good, err := readLooks(path)
	if err != nil {
		return err
	}
	if looks = unrecorded(looks, before); len(looks) == 0 {
		return nil
	}
	f, size, err := journal.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if good < size { // a torn line of a process that died here
		if err := f.Truncate(good); err != nil {
			return err
		}
	}
	prev := ""
	if n := len(before); n > 0 {
		prev = before[n-1].Hash
	}
	var buf bytes.Buffer
	for i, l := range looks {
		l.Seq, l.Prev = len(before)+i+1, prev
		if l.Hash, err = l.hash(); err != nil {
			return err
		}
		prev = l.Hash
		if err := json.NewEncoder(&buf).Encode(l); err != nil {
			return err
		}
	}
	if _, err = f.Write(buf.Bytes()); err == nil {
		err = f.Sync()
	}
	if err != nil {
		_ = f.Truncate(good) // a look that was not recorded is none
	}
	return err
}
