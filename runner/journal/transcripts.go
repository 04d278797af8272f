package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// The names of a run folder's transcript files.
const (
	// PackName holds the exact exchanged bytes: zstd frames one after another,
	// each a few JSON lines, so that zstdcat prints the whole.
	PackName = "transcripts.zst"
	// IndexName says where in the pack a trial's transcript is. It can be
	// rebuilt from the pack, so it is not synced while a run grows.
	IndexName = "transcripts.idx.jsonl"
)

// Transcript is what crossed the doors for one trial, byte for byte (H-006).
type Transcript struct {
	Key      string     `json:"key"` // the trial's
	Request  Raw        `json:"request,omitempty"`
	Response Raw        `json:"response,omitempty"`
	Calls    []Exchange `json:"calls,omitempty"` // in the order of Trial.Calls
}

// Exchange is one model call's bodies.
type Exchange struct {
	Request  Raw `json:"request,omitempty"`
	Response Raw `json:"response,omitempty"`
}

// Raw is bytes that come back exactly: a JSON string where they are UTF-8,
// else {"base64": "…"}.
type Raw []byte

type rawBase64 struct {
	Base64 string `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (r Raw) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	var err error
	if utf8.Valid(r) {
		err = enc.Encode(string(r))
	} else {
		err = enc.Encode(rawBase64{base64.StdEncoding.EncodeToString(r)})
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Raw) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err == nil {
		*r = Raw(s)
		return nil
	}
	var b rawBase64
	if err := json.Unmarshal(data, &b); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(b.Base64)
	*r = raw
	return err
}

// location is one line of the index.
type location struct {
	Key  string `json:"key"`
	At   int64  `json:"at"`   // the frame's offset in the pack
	Len  int64  `json:"len"`  // the frame's bytes
	From int    `json:"from"` // the line's offset in the frame's text
	Size int    `json:"size"` // the line's bytes, newline included
}

// Pack appends transcripts. Add only buffers; Flush makes everything added so
// far durable as one frame, so trials that share a sync share a frame.
type Pack struct {
	dir string
	enc *zstd.Encoder

	mu    sync.Mutex
	text  bytes.Buffer
	lines []location // of text; At and Len are open

	flush sync.Mutex // one Flush at a time; guards the rest
	pack  File
	index File
	size  int64
	frame []byte
	spare bytes.Buffer
}

// OpenPack opens the pack in a run folder for appending, with open or, when
// it is nil, OpenFile. A torn last frame is cut off and the index rebuilt.
func OpenPack(dir string, open OpenFunc) (*Pack, error) {
	if open == nil {
		open = OpenFile
	}
	if err := repairPack(dir); err != nil {
		return nil, err
	}
	p := &Pack{dir: dir}
	var err error
	if p.enc, err = newEncoder(nil); err != nil {
		return nil, fmt.Errorf("open the transcripts: %w", err)
	}
	if p.pack, p.size, err = open(filepath.Join(dir, PackName)); err != nil {
		return nil, fmt.Errorf("%w: transcripts: %w", ErrWrite, err)
	}
	if p.index, _, err = open(filepath.Join(dir, IndexName)); err != nil {
		p.pack.Close()
		return nil, fmt.Errorf("%w: transcripts: %w", ErrWrite, err)
	}
	return p, nil
}

// Add takes one trial's transcript and returns the hex SHA-256 of its line. It
// is durable after the next Flush.
func (p *Pack) Add(t Transcript) (sum string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from := p.text.Len()
	enc := json.NewEncoder(&p.text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(t); err != nil {
		p.text.Truncate(from)
		return "", fmt.Errorf("encode a transcript: %w", err)
	}
	p.lines = append(p.lines, location{Key: t.Key, From: from, Size: p.text.Len() - from})
	return lineSum(p.text.Bytes()[from:]), nil
}

func lineSum(line []byte) string {
	d := sha256.Sum256(line)
	return hex.EncodeToString(d[:])
}

// Flush writes and syncs what was added. It fits Open's before.
func (p *Pack) Flush() error {
	p.flush.Lock()
	defer p.flush.Unlock()
	p.mu.Lock()
	text, lines := p.text, p.lines
	p.text, p.lines = p.spare, nil
	p.mu.Unlock()
	if len(lines) == 0 {
		p.spare = text
		return nil
	}
	p.frame = p.enc.EncodeAll(text.Bytes(), p.frame[:0])
	text.Reset()
	p.spare = text
	n, err := p.pack.Write(p.frame)
	if err == nil && n < len(p.frame) {
		err = fmt.Errorf("short write: %d of %d bytes", n, len(p.frame))
	}
	if err == nil {
		err = p.pack.Sync()
	}
	if err != nil {
		_ = p.pack.Truncate(p.size)
		return fmt.Errorf("transcripts: %w", err)
	}
	idx, err := indexLines(lines, p.size, int64(n))
	if err == nil {
		_, err = p.index.Write(idx)
	}
	if err != nil {
		return fmt.Errorf("transcript index: %w", err)
	}
	p.size += int64(n)
	return nil
}

// Close flushes, syncs and closes the files.
func (p *Pack) Close() error {
	err := p.Flush()
	for _, step := range []func() error{p.index.Sync, p.index.Close, p.pack.Close, p.enc.Close} {
		if serr := step(); err == nil {
			err = serr
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrWrite, err)
	}
	return nil
}

// indexLines renders the index lines of one frame.
func indexLines(lines []location, at, length int64) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for _, l := range lines {
		l.At, l.Len = at, length
		if err := enc.Encode(l); err != nil {
			return nil, err
		}
	}
	return buf.Bytes(), nil
}
