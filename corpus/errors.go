package corpus

import (
	"errors"
	"fmt"
	"path"

	"github.com/fabriccore/assay/corpus/internal/strict"
)

// Sentinel errors; commands map them to exit codes in one place.
var (
	// ErrChanged means that a frozen corpus is not what was frozen (exit 6).
	ErrChanged = errors.New("frozen corpus changed")
	// ErrInvalid means that a file of the corpus can't be used as it is; the
	// message names file and line (exit 6).
	ErrInvalid = strict.ErrInvalid
	// ErrNotFound means that no corpus or recipe of that name is there (exit 2).
	ErrNotFound = errors.New("not found")
)

// ChangedError names the file by which a frozen corpus differs from what was
// frozen.
type ChangedError struct {
	File string
	Line int // of SHA256SUMS itself, else 0
	What string
}

// Error says which file, what happened to it and what to do.
func (e *ChangedError) Error() string {
	at := e.File
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return at + ": " + e.What + " since the corpus was frozen; restore it, or freeze a new version"
}

// Unwrap makes errors.Is(err, ErrChanged) hold.
func (e *ChangedError) Unwrap() error { return ErrChanged }

func invalid(file string, line int, format string, args ...any) error {
	return strict.Errorf(file, line, format, args...)
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return path.Join(dir, name)
}
