package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// ErrNoTranscript is a trial of which no transcript is kept.
var ErrNoTranscript = errors.New("no transcript of that trial")

// Transcripts finds transcripts by trial key. It is not for concurrent use.
type Transcripts struct {
	path    string
	f       *os.File
	dec     *zstd.Decoder
	where   map[string]location
	rebuilt bool

	at   int64 // of the frame in text; -1 = none
	text []byte
}

// OpenTranscripts opens the transcripts of a run folder. An index that does
// not fit its pack is rebuilt in memory.
func OpenTranscripts(dir string) (*Transcripts, error) {
	t := &Transcripts{path: filepath.Join(dir, PackName), at: -1}
	f, err := os.Open(t.path)
	if err != nil {
		return nil, fmt.Errorf("open the transcripts: %w", err)
	}
	t.f = f
	if t.dec, err = newDecoder(); err != nil {
		f.Close()
		return nil, fmt.Errorf("open the transcripts: %w", err)
	}
	if !t.readIndex(filepath.Join(dir, IndexName)) {
		if err := t.rebuild(); err != nil {
			t.Close()
			return nil, err
		}
	}
	return t, nil
}

// readIndex reads the index and reports whether it covers the pack exactly.
func (t *Transcripts) readIndex(path string) bool {
	st, err := t.f.Stat()
	if err != nil {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	t.where = map[string]location{}
	var end, last int64 = 0, -1
	dec := json.NewDecoder(bufio.NewReader(f))
	dec.DisallowUnknownFields()
	for dec.More() {
		var l location
		if dec.Decode(&l) != nil || l.Len <= 0 {
			return false
		}
		if l.At != last {
			if l.At != end {
				return false
			}
			last, end = l.At, l.At+l.Len
		}
		t.where[l.Key] = l
	}
	return end == st.Size()
}

// rebuild reads the whole pack for its index.
func (t *Transcripts) rebuild() error {
	t.rebuilt = true
	t.where = map[string]location{}
	_, _, err := scanPack(t.path, func(at, length int64, text []byte) error {
		lines, err := locate(t.path, at, length, text)
		for _, l := range lines {
			t.where[l.Key] = l
		}
		return err
	})
	return err
}

// Get returns the transcript of the trial with that key. A trial that was
// asked twice, because its first line was lost, has the later one. Errors
// wrap ErrNoTranscript or ErrCorrupt.
func (t *Transcripts) Get(key string) (Transcript, error) {
	tr, err := t.get(key)
	if err != nil && !errors.Is(err, ErrNoTranscript) && !t.rebuilt {
		// The index may belong to the pack before a repack.
		if rerr := t.rebuild(); rerr != nil {
			return Transcript{}, rerr
		}
		t.at = -1
		return t.get(key)
	}
	return tr, err
}

func (t *Transcripts) get(key string) (Transcript, error) {
	line, err := t.line(key)
	if err != nil {
		return Transcript{}, err
	}
	var tr Transcript
	if json.Unmarshal(line, &tr) != nil || tr.Key != key {
		return Transcript{}, t.misplaced(key)
	}
	return tr, nil
}

// line is a trial's line as it stands in the pack; it is good until the next
// call.
func (t *Transcripts) line(key string) ([]byte, error) {
	l, ok := t.where[key]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNoTranscript, key)
	}
	if t.at != l.At {
		if err := t.load(l); err != nil {
			return nil, fmt.Errorf("%w: %s: frame at byte %d: %w", ErrCorrupt, t.path, l.At, err)
		}
	}
	if l.From < 0 || l.Size < 0 || l.From+l.Size > len(t.text) {
		return nil, t.misplaced(key)
	}
	return t.text[l.From : l.From+l.Size], nil
}

func (t *Transcripts) misplaced(key string) error {
	return fmt.Errorf("%w: %s: frame at byte %d does not hold trial %s", ErrCorrupt, t.path, t.where[key].At, key)
}

// Check compares a trial's line with the hash that its trial names. Errors
// wrap ErrCorrupt; a transcript that is not there is one of them.
func (t *Transcripts) Check(key, sum string) error {
	line, err := t.line(key)
	if (err != nil || lineSum(line) != sum) && !t.rebuilt {
		// The index may belong to the pack before a repack.
		if err := t.rebuild(); err != nil {
			return err
		}
		t.at = -1
		line, err = t.line(key)
	}
	switch {
	case errors.Is(err, ErrNoTranscript):
		return fmt.Errorf("%w: %s: the transcript of trial %s is gone", ErrCorrupt, t.path, key)
	case err != nil:
		return err
	case lineSum(line) != sum:
		return fmt.Errorf("%w: %s: the transcript of trial %s is not the one that was written", ErrCorrupt, t.path, key)
	}
	return nil
}

func (t *Transcripts) load(l location) error {
	t.at = -1
	st, err := t.f.Stat()
	if err != nil {
		return err
	}
	if l.At < 0 || l.Len > st.Size()-l.At {
		return errTorn
	}
	frame := make([]byte, l.Len)
	if _, err := t.f.ReadAt(frame, l.At); err != nil {
		return err
	}
	if t.text, err = t.dec.DecodeAll(frame, t.text[:0]); err != nil {
		return err
	}
	t.at = l.At
	return nil
}

// Keys lists the trials that have a transcript, in no order.
func (t *Transcripts) Keys() []string {
	keys := make([]string, 0, len(t.where))
	for k := range t.where {
		keys = append(keys, k)
	}
	return keys
}

// Close closes the pack.
func (t *Transcripts) Close() error {
	t.dec.Close()
	return t.f.Close()
}
