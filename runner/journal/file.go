package journal

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The names of a run folder's stream files.
const (
	// Name is the journal while it grows.
	Name = "journal.jsonl"
	// PackedName is the journal of a closed run: the same lines under zstd.
	PackedName = "journal.jsonl.zst"
)

// File is what the writers need of a file; tests put faults behind it.
type File interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

// OpenFunc opens a file for appending and tells its size; it creates the file
// when there is none.
type OpenFunc func(path string) (File, int64, error)

// OpenFile is the OpenFunc of the real file system. A file it creates is
// durable in its folder when OpenFile returns.
func OpenFile(path string) (File, int64, error) {
	_, statErr := os.Stat(path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err == nil && os.IsNotExist(statErr) {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		return nil, 0, fmt.Errorf("open %s: %w", path, err)
	}
	return f, st.Size(), nil
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
