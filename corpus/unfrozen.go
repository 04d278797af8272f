package corpus

import "io/fs"

// unfrozen hides SHA256SUMS, so that a corpus can be loaded to be frozen anew.
type unfrozen struct{ fs.FS }

// Open refuses SHA256SUMS as missing and passes every other name on.
func (u unfrozen) Open(name string) (fs.File, error) {
	if name == SumsFile {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return u.FS.Open(name)
}
