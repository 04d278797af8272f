package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func transcript(i int) Transcript {
	return Transcript{
		Key:     fmt.Sprintf("k%d", i),
		Request: Raw(fmt.Sprintf(`{"n": %d, "t":"<é>"}`, i) + strings.Repeat("evidence ", 50)), Response: Raw{0xff, 0, byte(i)},
		Calls: []Exchange{{Request: Raw("a\n"), Response: Raw("\u2028")}},
	}
}

func writePack(t testing.TB, dir string, from, n, perFlush int) {
	t.Helper()
	p, err := OpenPack(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i < from+n; i++ {
		if _, err := p.Add(transcript(i)); err != nil {
			t.Fatal(err)
		}
		if (i+1)%perFlush == 0 {
			if err := p.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func checkPack(t testing.TB, dir string, n int) {
	t.Helper()
	r, err := OpenTranscripts(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if len(r.Keys()) != n {
		t.Fatalf("%d keys, want %d", len(r.Keys()), n)
	}
	for i := range n {
		got, err := r.Get(fmt.Sprintf("k%d", i))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(transcript(i), got); d != "" {
			t.Fatal(d)
		}
	}
	if _, err := r.Get("none"); !errors.Is(err, ErrNoTranscript) {
		t.Fatalf("got %v", err)
	}
}

// H-006: every exchanged byte comes back, before and after a repack.
func TestH006TranscriptsComeBack(t *testing.T) {
	dir := t.TempDir()
	writePack(t, dir, 0, 20, 3)
	checkPack(t, dir, 20)
	writePack(t, dir, 20, 10, 1) // resumed
	checkPack(t, dir, 30)
	old, _ := os.ReadFile(filepath.Join(dir, IndexName))
	before, _ := os.Stat(filepath.Join(dir, PackName))
	if err := Repack(dir); err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(filepath.Join(dir, PackName))
	if after.Size() >= before.Size() {
		t.Errorf("repacked from %d to %d bytes", before.Size(), after.Size())
	}
	checkPack(t, dir, 30)
	// A crash between the two renames leaves the old index.
	if err := os.WriteFile(filepath.Join(dir, IndexName), old, 0o600); err != nil {
		t.Fatal(err)
	}
	checkPack(t, dir, 30)
	if err := os.Remove(filepath.Join(dir, IndexName)); err != nil {
		t.Fatal(err)
	}
	checkPack(t, dir, 30)
}

// H-014: a pack cut anywhere opens with its whole frames and grows again.
func TestH014PackTruncation(t *testing.T) {
	src := t.TempDir()
	writePack(t, src, 0, 4, 1)
	whole, _ := os.ReadFile(filepath.Join(src, PackName))
	var ends []int64
	if _, _, err := scanPack(filepath.Join(src, PackName), func(at, n int64, _ []byte) error {
		ends = append(ends, at+n)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut < len(whole); cut += 5 {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, PackName), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range ends {
			if e <= int64(cut) {
				n++
			}
		}
		if cut%3 == 0 { // opening for reading alone tolerates it too
			r, err := OpenTranscripts(dir)
			if err != nil || len(r.Keys()) != n {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			r.Close()
		}
		writePack(t, dir, n, 4-n, 1)
		checkPack(t, dir, 4)
	}
}

func TestPackDamage(t *testing.T) {
	dir := t.TempDir()
	writePack(t, dir, 0, 4, 1)
	path := filepath.Join(dir, PackName)
	data, _ := os.ReadFile(path)
	data[40] ^= 0xff
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPack(dir, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	r, err := OpenTranscripts(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Get("k0"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

func TestPackFault(t *testing.T) {
	dir := t.TempDir()
	p, err := OpenPack(dir, func(path string) (File, int64, error) {
		return &fakeFile{write: func(n int, b []byte) (int, error) {
			if n == 2 && strings.HasSuffix(path, PackName) {
				return 3, errors.New("no space left on device")
			}
			return len(b), nil
		}}, 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f := p.pack.(*fakeFile)
	for i := range 2 {
		_, _ = p.Add(transcript(i))
		if err := p.Flush(); (err != nil) != (i == 1) {
			t.Fatalf("flush %d: %v", i, err)
		}
		if int64(len(f.data)) != p.size {
			t.Fatalf("flush %d: a torn frame stays", i)
		}
	}
	p.Close()
}

func TestRawRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Raw(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		data, err := in.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var out Raw
		if err := out.UnmarshalJSON(data); err != nil || !bytes.Equal(in, out) {
			t.Fatalf("%q → %s → %q, %v", in, data, out, err)
		}
	})
}

// H-014: zeros that a file system left where a file had grown are a torn tail,
// in the pack as in the journal; zeros with more behind them are damage.
func TestH014ZerosAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	writePack(t, dir, 0, 4, 2)
	path := filepath.Join(dir, PackName)
	whole, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(whole[:len(whole):len(whole)], make([]byte, 5000)...), 0o600); err != nil {
		t.Fatal(err)
	}
	writePack(t, dir, 4, 2, 2)
	checkPack(t, dir, 6)
	bad := append(append(whole[:len(whole):len(whole)], make([]byte, 5000)...), 1)
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPack(dir, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}

	name := filepath.Join(dir, Name)
	line := []byte(`{"end":{"at":"2026-01-01T00:00:00Z","planned":0,"counts":{}}}` + "\n")
	if err := os.WriteFile(name, append(line, make([]byte, 5000)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if torn, err := Repair(name, nil); !torn || err != nil {
		t.Errorf("%v %v", torn, err)
	}
	if got, _ := os.ReadFile(name); string(got) != string(line) {
		t.Errorf("%q", got)
	}
}
