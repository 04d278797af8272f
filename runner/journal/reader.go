package journal

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/klauspost/compress/zstd"
)

// ErrCorrupt is a journal or transcript pack that is damaged in a place where
// an interruption can't have damaged it. The message names file and line.
var ErrCorrupt = errors.New("run file is damaged")

// maxLine bounds one line; a longer one is damage, not data.
const maxLine = 64 << 20

// Reader reads a journal message by message. A last line without a newline
// was never synced: it is left out, and Torn says so.
type Reader struct {
	name   string
	r      *bufio.Reader
	closer []func() error
	buf    []byte
	line   int
	good   int64
	lines  hash.Hash // of the whole lines read so far
	torn   bool
	err    error
}

// NewReader reads the lines of r; name is used in messages only.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{name: name, r: bufio.NewReaderSize(r, 64<<10), lines: sha256.New()}
}

// OpenRun opens the journal in a run folder, plain or packed.
func OpenRun(dir string) (*Reader, error) {
	path := filepath.Join(dir, Name)
	f, err := os.Open(path)
	if err == nil {
		r := NewReader(f, path)
		r.closer = append(r.closer, f.Close)
		return r, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	packed := filepath.Join(dir, PackedName)
	f, perr := os.Open(packed)
	if errors.Is(perr, os.ErrNotExist) {
		return nil, fmt.Errorf("no journal in %s: %w", dir, os.ErrNotExist)
	}
	if perr != nil {
		return nil, fmt.Errorf("open the journal: %w", perr)
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open %s: %w", packed, err)
	}
	r := NewReader(z, packed)
	r.closer = append(r.closer, func() error { z.Close(); return nil }, f.Close)
	return r, nil
}

// Next returns the next message, or io.EOF after the last whole line. Other
// errors wrap ErrCorrupt and name the line.
func (r *Reader) Next() (Message, error) {
	if r.err != nil {
		return Message{}, r.err
	}
	m, err := r.next()
	r.err = err
	return m, err
}

func (r *Reader) next() (Message, error) {
	line, err := r.readLine()
	if err != nil {
		return Message{}, err
	}
	r.line++
	m, err := parseLine(line[:len(line)-1])
	if err != nil {
		return Message{}, r.corrupt(err)
	}
	if want := m.linesSHA256(); want != "" && want != hex.EncodeToString(r.lines.Sum(nil)) {
		return Message{}, r.corrupt(errors.New("the lines before it are not those that were written: one was changed, added or taken out"))
	}
	r.lines.Write(line)
	r.good += int64(len(line))
	return m, nil
}

// readLine returns the next line with its newline; the slice is good until
// the next call.
func (r *Reader) readLine() ([]byte, error) {
	r.buf = r.buf[:0]
	for {
		part, err := r.r.ReadSlice('\n')
		r.buf = append(r.buf, part...)
		switch {
		case err == nil:
			return r.buf, nil
		case errors.Is(err, bufio.ErrBufferFull):
			if len(r.buf) > maxLine {
				r.line++
				return nil, r.corrupt(fmt.Errorf("longer than %d bytes", maxLine))
			}
		case errors.Is(err, io.EOF):
			r.torn = len(r.buf) > 0
			return nil, io.EOF
		default:
			r.line++
			return nil, r.corrupt(err)
		}
	}
}

func (r *Reader) corrupt(err error) error {
	return fmt.Errorf("%w: %s:%d: %w", ErrCorrupt, r.name, r.line, err)
}

// All yields every message; after an error it stops.
func (r *Reader) All() iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for {
			m, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Raw is the last message's line as it stands in the journal, newline
// included; it is good until the next call of Next.
func (r *Reader) Raw() []byte { return r.buf }

// Torn reports, after io.EOF, whether the stream ended inside a line.
func (r *Reader) Torn() bool { return r.torn }

// Good is the number of bytes up to the end of the last whole line read.
func (r *Reader) Good() int64 { return r.good }

// Line is the number of the last line read, from 1.
func (r *Reader) Line() int { return r.line }

// Close releases what OpenRun opened.
func (r *Reader) Close() error {
	var errs []error
	for _, c := range r.closer {
		errs = append(errs, c())
	}
	r.closer = nil
	return errors.Join(errs...)
}

// Repair cuts a torn last line off a plain journal after each (which may be
// nil) has seen every whole line, and reports whether there was one. A
// damaged line before that is ErrCorrupt and nothing is changed.
func Repair(path string, each func(Message) error) (torn bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, fmt.Errorf("repair the journal: %w", err)
	}
	defer f.Close()
	r := NewReader(f, path)
	for m, err := range r.All() {
		if err != nil {
			return false, err
		}
		if each != nil {
			if err := each(m); err != nil {
				return false, err
			}
		}
	}
	if !r.Torn() {
		return false, nil
	}
	if err := f.Truncate(r.Good()); err != nil {
		return true, fmt.Errorf("repair the journal: %w", err)
	}
	return true, f.Sync()
}

// Compress replaces the plain journal of a closed run by its packed form. A run
// that has both after a crash is whole: OpenRun reads the plain one.
func Compress(dir string) error {
	plain := filepath.Join(dir, Name)
	f, err := os.Open(plain)
	if err != nil {
		return fmt.Errorf("pack the journal: %w", err)
	}
	defer f.Close()
	out, err := renameio.NewPendingFile(filepath.Join(dir, PackedName), renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("pack the journal: %w", err)
	}
	defer out.Cleanup()
	z, err := newEncoder(out)
	if err != nil {
		return fmt.Errorf("pack the journal: %w", err)
	}
	_, err = io.Copy(z, f)
	if cerr := z.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = out.CloseAtomicallyReplace()
	}
	if err == nil {
		err = os.Remove(plain)
	}
	if err != nil {
		return fmt.Errorf("pack the journal: %w", err)
	}
	return syncFolder(dir)
}

// newEncoder is a zstd encoder with a small, fixed memory.
func newEncoder(w io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(1<<20), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
}
