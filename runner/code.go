package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
)

// Code says which build runs.
type Code struct {
	Version string `json:"version"` // commit or module version, "+dirty" if so
	Digest  string `json:"digest"`  // "sha256:<hex>" of the executable
}

// Dirty reports whether the build came from a changed tree, or from one that
// it can't name: that may have been changed too.
func (c Code) Dirty() bool {
	switch c.Version {
	case "", "unknown", "(devel)":
		return true
	}
	return strings.HasSuffix(c.Version, "+dirty")
}

// ReadCode hashes the executable at path.
func ReadCode(version, path string) (Code, error) {
	f, err := os.Open(path)
	if err != nil {
		return Code{}, fmt.Errorf("hash the executable: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return Code{}, fmt.Errorf("hash the executable: %w", err)
	}
	return Code{Version: version, Digest: "sha256:" + hex.EncodeToString(h.Sum(nil))}, nil
}
