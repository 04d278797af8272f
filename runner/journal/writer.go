package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"
)

// ErrWrite is a journal that can't be written any more. What was synced
// before stays, and the run can be resumed.
var ErrWrite = errors.New("journal can't be written")

// ErrClosed is a use of a writer after Close.
var ErrClosed = errors.New("journal is closed")

// maxPending bounds the bytes that wait for a sync; Start blocks above it.
const maxPending = 1 << 20

// Writer appends messages to a journal. A message counts when it is synced;
// messages that arrive while a sync is under way share the next one. It is
// safe for concurrent use.
type Writer struct {
	name   string
	file   File
	before func() error

	mu      sync.Mutex
	wake    *sync.Cond // work for the committer, or room in pending
	pending bytes.Buffer
	waiting []func(error)
	size    int64     // synced bytes
	lines   hash.Hash // of the synced bytes
	err     error     // sticky: after a failure nothing more is written
	closed  bool
	done    chan struct{}
}

// Open opens the journal at path for appending, with open or, when it is nil,
// OpenFile. before, when it is not nil, runs ahead of every write to the
// journal: what a line refers to is made durable there. The caller has
// repaired the tail (Repair).
func Open(path string, open OpenFunc, before func() error) (*Writer, error) {
	if open == nil {
		open = OpenFile
	}
	f, size, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWrite, err)
	}
	w := &Writer{name: path, file: f, before: before, size: size, lines: sha256.New(), done: make(chan struct{})}
	if size > 0 {
		if err := hashFile(w.lines, path); err != nil {
			f.Close()
			return nil, fmt.Errorf("%w: %w", ErrWrite, err)
		}
	}
	w.wake = sync.NewCond(&w.mu)
	go w.commit()
	return w, nil
}

// Append writes m and returns when it is synced.
func (w *Writer) Append(m Message) error {
	synced := make(chan error, 1)
	w.Start(m, func(err error) { synced <- err })
	return <-synced
}

// Start hands m over and calls done, once, when m is synced or can't be. It
// blocks only while very much is waiting. done runs on the writer's own
// goroutine and must not call the writer.
func (w *Writer) Start(m Message, done func(error)) {
	var line bytes.Buffer
	if err := appendLine(&line, m); err != nil {
		done(fmt.Errorf("encode a message: %w", err))
		return
	}
	w.mu.Lock()
	for w.pending.Len() > maxPending && w.err == nil && !w.closed {
		w.wake.Wait()
	}
	err := w.err
	if err == nil && w.closed {
		err = ErrClosed
	}
	if err == nil {
		w.pending.Write(line.Bytes())
		w.waiting = append(w.waiting, done)
		w.wake.Broadcast()
	}
	w.mu.Unlock()
	if err != nil {
		done(err)
	}
}

// Close syncs what is waiting and closes the file. It returns the error that
// stopped the journal, if one did.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		<-w.done
		return nil
	}
	w.closed = true
	w.wake.Broadcast()
	w.mu.Unlock()
	<-w.done
	if err := w.file.Close(); err != nil && w.err == nil {
		w.err = fmt.Errorf("%w: %s: %w", ErrWrite, w.name, err)
	}
	return w.err
}

// commit writes and syncs batch after batch until Close.
func (w *Writer) commit() {
	defer close(w.done)
	var batch bytes.Buffer
	for {
		w.mu.Lock()
		for len(w.waiting) == 0 && !w.closed {
			w.wake.Wait()
		}
		if len(w.waiting) == 0 {
			w.mu.Unlock()
			return
		}
		batch.Reset()
		batch, w.pending = w.pending, batch
		waiting := w.waiting
		w.waiting = nil
		err := w.err
		w.wake.Broadcast() // room in pending
		w.mu.Unlock()

		if err == nil {
			err = w.write(batch.Bytes())
		}
		for _, done := range waiting {
			done(err)
		}
	}
}

// write makes one batch durable. A failure is final: a failed sync says
// nothing about what reached the disk, so the batch is cut off again and
// nothing is tried twice.
func (w *Writer) write(batch []byte) error {
	err := error(nil)
	if w.before != nil {
		err = w.before()
	}
	var n int
	if err == nil {
		if n, err = w.file.Write(batch); err == nil && n < len(batch) {
			err = fmt.Errorf("short write: %d of %d bytes", n, len(batch))
		}
		if err == nil {
			err = w.file.Sync()
		}
		if err != nil {
			// Best effort: a torn tail that stays is cut off on resume.
			_ = w.file.Truncate(w.size)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.err = fmt.Errorf("%w: %s: %w", ErrWrite, w.name, err)
		w.wake.Broadcast()
		return w.err
	}
	w.size += int64(len(batch))
	w.lines.Write(batch)
	return nil
}

// hashFile adds a file's bytes to a hash.
func hashFile(h hash.Hash, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(h, f)
	return err
}

// LinesSHA256 is the hex hash of every line synced so far.
func (w *Writer) LinesSHA256() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return hex.EncodeToString(w.lines.Sum(nil))
}
