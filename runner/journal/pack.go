package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/klauspost/compress/zstd"
)

// frameText is about how much text Repack puts into one frame: enough for
// neighbouring trials to share their evidence, little enough to read one.
const frameText = 512 << 10

// maxFrameText bounds what one frame may unpack to.
const maxFrameText = 256 << 20

// errTorn is a frame that the file ends in.
var errTorn = errors.New("the file ends inside a frame")

// readFrame reads one zstd frame's bytes into buf: its header, its blocks and
// its checksum (RFC 8878, 3.1.1).
func readFrame(r *bufio.Reader, buf []byte) ([]byte, error) {
	head, err := r.Peek(zstd.HeaderMaxSize)
	if len(head) == 0 && errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || onlyZeros(r) {
			return nil, errTorn
		}
		return nil, err
	}
	if h.Skippable {
		return nil, errors.New("a skippable frame")
	}
	frame := bytes.NewBuffer(buf)
	take := func(n int64) error {
		if got, err := io.CopyN(frame, r, n); got < n {
			if errors.Is(err, io.EOF) {
				return errTorn
			}
			return err
		}
		return nil
	}
	if err := take(int64(h.HeaderSize)); err != nil {
		return nil, err
	}
	for last := false; !last; {
		if err := take(3); err != nil {
			return nil, err
		}
		b := frame.Bytes()[frame.Len()-3:]
		block := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		last = block&1 != 0
		size := int64(block >> 3)
		if block>>1&3 == 1 { // run-length: one byte stands for size
			size = 1
		}
		if err := take(size); err != nil {
			return nil, err
		}
	}
	if h.HasCheckSum {
		if err := take(4); err != nil {
			return nil, err
		}
	}
	return frame.Bytes(), nil
}

// onlyZeros reads on and reports whether nothing but zeros follows: what a file
// system leaves where a file had grown and its bytes were not yet written when
// the power went.
func onlyZeros(r *bufio.Reader) bool {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if b != 0 {
			return false
		}
	}
}

// newDecoder unpacks single frames.
func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxFrameText))
}

// scanPack walks the frames of a pack. each sees the frame's place and text;
// the text is good until it returns. It returns the bytes up to the end of the last whole
// frame, and whether a torn one follows. Damage before that is ErrCorrupt.
func scanPack(path string, each func(at, length int64, text []byte) error) (good int64, torn bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	dec, err := newDecoder()
	if err != nil {
		return 0, false, err
	}
	defer dec.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	var frame, text []byte
	for {
		frame, err = readFrame(r, frame[:0])
		switch {
		case errors.Is(err, io.EOF):
			return good, false, nil
		case errors.Is(err, errTorn):
			return good, true, nil
		case err != nil:
			return good, false, fmt.Errorf("%w: %s: frame at byte %d: %w", ErrCorrupt, path, good, err)
		}
		text, err = dec.DecodeAll(frame, text[:0])
		if err != nil {
			if _, perr := r.Peek(1); errors.Is(perr, io.EOF) {
				return good, true, nil // the last frame was never synced
			}
			return good, false, fmt.Errorf("%w: %s: frame at byte %d: %w", ErrCorrupt, path, good, err)
		}
		if err := each(good, int64(len(frame)), text); err != nil {
			return good, false, err
		}
		good += int64(len(frame))
	}
}

// locate finds the lines of a frame's text.
func locate(path string, at, length int64, text []byte) ([]location, error) {
	var out []location
	for from := 0; from < len(text); {
		n := bytes.IndexByte(text[from:], '\n') + 1
		key := lineKey(text[from : from+n])
		if key == "" {
			return nil, fmt.Errorf("%w: %s: frame at byte %d holds no transcript at %d", ErrCorrupt, path, at, from)
		}
		out = append(out, location{Key: key, At: at, Len: length, From: from, Size: n})
		from += n
	}
	return out, nil
}

// lineKey is the key of a transcript's line, "" if it has none. Our own lines
// start with it, so that the exchanged bytes need not be parsed.
func lineKey(line []byte) string {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"key":"`)); ok {
		if key, _, ok := bytes.Cut(rest, []byte(`"`)); ok && !bytes.ContainsRune(key, '\\') {
			return string(key)
		}
	}
	var t struct {
		Key string `json:"key"`
	}
	if json.Unmarshal(line, &t) != nil {
		return ""
	}
	return t.Key
}

// repairPack cuts a torn last frame off and rebuilds the index.
func repairPack(dir string) error {
	path := filepath.Join(dir, PackName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	idx, err := renameio.NewPendingFile(filepath.Join(dir, IndexName), renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("repair the transcripts: %w", err)
	}
	defer idx.Cleanup()
	w := bufio.NewWriter(idx)
	good, torn, err := scanPack(path, func(at, length int64, text []byte) error {
		lines, err := locate(path, at, length, text)
		if err != nil {
			return err
		}
		return writeIndex(w, lines, at, length)
	})
	if err != nil {
		return fmt.Errorf("repair the transcripts: %w", err)
	}
	if torn {
		if err := truncate(path, good); err != nil {
			return fmt.Errorf("repair the transcripts: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("repair the transcripts: %w", err)
	}
	return idx.CloseAtomicallyReplace()
}

func truncate(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		return err
	}
	return f.Sync()
}

func writeIndex(w io.Writer, lines []location, at, length int64) error {
	b, err := indexLines(lines, at, length)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// Repack rewrites the transcripts of a closed run in larger frames, where the
// arms of a case share their evidence. A crash leaves the old pack, or the
// new pack with an index that a reader finds wrong and rebuilds.
func Repack(dir string) error {
	path := filepath.Join(dir, PackName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := repack(dir, path); err != nil {
		return fmt.Errorf("repack the transcripts: %w", err)
	}
	return nil
}

func repack(dir, path string) error {
	pack, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer pack.Cleanup()
	idx, err := renameio.NewPendingFile(filepath.Join(dir, IndexName), renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer idx.Cleanup()
	enc, err := newEncoder(nil)
	if err != nil {
		return err
	}
	defer enc.Close()
	var (
		iw    = bufio.NewWriter(idx)
		text  []byte
		frame []byte
		at    int64
	)
	flush := func() error {
		if len(text) == 0 {
			return nil
		}
		frame = enc.EncodeAll(text, frame[:0])
		lines, err := locate(path, at, int64(len(frame)), text)
		if err == nil {
			_, err = pack.Write(frame)
		}
		if err == nil {
			err = writeIndex(iw, lines, at, int64(len(frame)))
		}
		at += int64(len(frame))
		text = text[:0]
		return err
	}
	_, _, err = scanPack(path, func(_, _ int64, more []byte) error {
		text = append(text, more...)
		if len(text) < frameText {
			return nil
		}
		return flush()
	})
	for _, step := range []func() error{flush, iw.Flush, pack.CloseAtomicallyReplace, idx.CloseAtomicallyReplace} {
		if err == nil {
			err = step()
		}
	}
	return err
}
