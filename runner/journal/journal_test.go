package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func trial(i int) Message {
	return Message{Trial: &Trial{Key: fmt.Sprintf("%064x", i), Case: fmt.Sprintf("c%d", i), Ordinal: i, Kind: Answered, Error: "a\nb <&> ü"}}
}

// messages draws any message that a run can write.
var messages = rapid.Custom(func(t *rapid.T) Message {
	text := rapid.String()
	at := time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "at"), 0).UTC()
	switch rapid.IntRange(0, 7).Draw(t, "field") {
	case 0:
		return Message{Run: &Run{ID: text.Draw(t, "id"), Started: at, Planned: rapid.IntRange(0, 9).Draw(t, "planned")}}
	case 1:
		return Message{Route: &Route{When: "before", Arm: text.Draw(t, "arm")}}
	case 2:
		return Message{Warmup: &Warmup{Arm: text.Draw(t, "arm")}}
	case 3:
		return Message{Trial: &Trial{
			Key: text.Draw(t, "key"), Kind: rapid.SampledFrom(Kinds).Draw(t, "kind"), Started: at,
			Ranked: rapid.SliceOfN(text, 1, 3).Draw(t, "ranked"), Timing: Timing{Total: time.Duration(rapid.Int64().Draw(t, "total"))},
		}}
	case 4:
		return Message{Note: &Note{At: at, Level: "info", Text: text.Draw(t, "text")}}
	case 5:
		return Message{Resume: &Resume{At: at, TornTail: rapid.Bool().Draw(t, "torn")}}
	case 6:
		return Message{Interrupt: &Interrupt{At: at, Why: "signal"}}
	default:
		return Message{End: &End{At: at, Counts: map[Kind]int{Answered: 1}}}
	}
})

func readAll(t interface{ Fatalf(string, ...any) }, data []byte) ([]Message, *Reader) {
	r := NewReader(bytes.NewReader(data), "j")
	var out []Message
	for m, err := range r.All() {
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		out = append(out, m)
	}
	return out, r
}

// H-014: every prefix of a journal reads as its whole lines, and says whether
// a torn one follows.
func TestH014EveryTruncationReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.SliceOfN(messages, 1, 3).Draw(t, "messages")
		var buf bytes.Buffer
		ends := map[int]int{0: 0}
		for i, m := range ms {
			if err := appendLine(&buf, m); err != nil {
				t.Fatalf("encode: %v", err)
			}
			ends[buf.Len()] = i + 1
		}
		whole := 0
		for cut := 0; cut <= buf.Len(); cut++ {
			n, at := ends[cut]
			if at {
				whole = n
			}
			got, r := readAll(t, buf.Bytes()[:cut])
			if r.Torn() == at {
				t.Fatalf("cut at %d: torn = %v", cut, r.Torn())
			}
			if d := cmp.Diff(ms[:whole], got, cmp.Transformer("nil", func(m []Message) []Message {
				if len(m) == 0 {
					return nil
				}
				return m
			})); d != "" {
				t.Fatalf("cut at %d: %s", cut, d)
			}
		}
	})
}

// H-014: Repair leaves exactly the whole lines, and a second one finds nothing.
func TestH014Repair(t *testing.T) {
	var buf bytes.Buffer
	for i := range 3 {
		if err := appendLine(&buf, trial(i)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), Name)
	for cut := range buf.Len() + 1 {
		if err := os.WriteFile(path, buf.Bytes()[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		whole := bytes.LastIndexByte(buf.Bytes()[:cut], '\n') + 1
		seen := 0
		torn, err := Repair(path, func(Message) error { seen++; return nil })
		if err != nil || torn != (cut > whole) {
			t.Fatalf("cut at %d: torn %v, %v", cut, torn, err)
		}
		left, _ := os.ReadFile(path)
		if !bytes.Equal(left, buf.Bytes()[:whole]) || seen != bytes.Count(left, []byte("\n")) {
			t.Fatalf("cut at %d: %d bytes left, %d seen", cut, len(left), seen)
		}
	}
}

// H-014: damage anywhere but in a torn tail is an error with its line.
func TestBadLines(t *testing.T) {
	good := `{"note":{"at":"2026-01-01T00:00:00Z","level":"info","text":"x"}}` + "\n"
	for _, tc := range []struct{ name, line, want string }{
		{"no field", `{}`, "has 0"},
		{"two fields", `{"resume":{"at":"2026-01-01T00:00:00Z","finished":0},"interrupt":{"at":"2026-01-01T00:00:00Z","why":"signal","finished":0}}`, "has 2"},
		{"unknown field", `{"remark":{}}`, "remark"},
		{"unknown inner field", `{"resume":{"colour":"red"}}`, "colour"},
		{"two messages", `{"resume":{}} {"resume":{}}`, "more than one"},
		{"trailing text", `{"resume":{}} x`, "more than one"},
		{"cut inside", `{"resume":{`, "ends inside"},
		{"empty", ``, "ends inside"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := NewReader(bytes.NewBufferString(good+tc.line+"\n"+good), "runs/x/journal.jsonl")
			_, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Next()
			if !errors.Is(err, ErrCorrupt) || !bytes.Contains([]byte(err.Error()), []byte(tc.want)) || !bytes.Contains([]byte(err.Error()), []byte("journal.jsonl:2: ")) {
				t.Fatalf("got %v", err)
			}
			if _, again := r.Next(); again != err {
				t.Fatalf("an error must stay, got %v", again)
			}
		})
	}
	var w bytes.Buffer
	if err := appendLine(&w, Message{}); err == nil || w.Len() > 0 {
		t.Fatal("a message without a field was written")
	}
}

// fakeFile counts syncs and fails on demand.
type fakeFile struct {
	mu     sync.Mutex
	data   []byte
	synced int
	syncs  int
	delay  time.Duration
	write  func(n int, p []byte) (int, error) // nil = works; n counts writes
	sync   func(n int) error
	writes int
}

func (f *fakeFile) open(string) (File, int64, error) { return f, int64(len(f.data)), nil }

func (f *fakeFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	if f.write != nil {
		n, err := f.write(f.writes, p)
		f.data = append(f.data, p[:n]...)
		return n, err
	}
	f.data = append(f.data, p...)
	return len(p), nil
}

func (f *fakeFile) Sync() error {
	time.Sleep(f.delay)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncs++
	if f.sync != nil {
		if err := f.sync(f.syncs); err != nil {
			return err
		}
	}
	f.synced = len(f.data)
	return nil
}

func (f *fakeFile) Truncate(n int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.data = f.data[:n]
	return nil
}

func (f *fakeFile) Close() error { return nil }

// H-014: messages that arrive during a sync share the next one, and Append
// returns only after the sync of its own line.
func TestH014GroupCommit(t *testing.T) {
	f := &fakeFile{delay: 5 * time.Millisecond}
	w, err := Open("j", f.open, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	const n = 200
	for i := range n {
		wg.Go(func() {
			if err := w.Append(trial(i)); err != nil {
				t.Error(err)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if !bytes.Contains(f.data[:f.synced], fmt.Appendf(nil, `"key":"%064x"`, i)) {
				t.Errorf("trial %d was not synced when Append returned", i)
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := readAll(t, f.data); len(got) != n {
		t.Fatalf("%d messages", len(got))
	}
	if f.syncs > n/4 {
		t.Errorf("%d syncs for %d messages", f.syncs, n)
	}
	if err := w.Append(trial(0)); !errors.Is(err, ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
}

// H-014: a failing disk stops the journal with one error that stays, and
// every line that was reported synced is there.
func TestH014WriteFaults(t *testing.T) {
	enospc := &os.PathError{Op: "write", Path: "j", Err: syscall.ENOSPC}
	for name, f := range map[string]*fakeFile{
		"full": {write: func(n int, p []byte) (int, error) {
			if n == 3 {
				return 7, enospc
			}
			return len(p), nil
		}},
		"short": {write: func(n int, p []byte) (int, error) {
			if n == 3 {
				return len(p) - 1, nil
			}
			return len(p), nil
		}},
		"sync": {sync: func(n int) error {
			if n == 3 {
				return enospc
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := Open("j", f.open, nil)
			if err != nil {
				t.Fatal(err)
			}
			ok := 0
			for i := range 5 {
				if err := w.Append(trial(i)); err == nil {
					ok++
				} else if !errors.Is(err, ErrWrite) {
					t.Errorf("got %v", err)
				}
			}
			if err := w.Close(); !errors.Is(err, ErrWrite) {
				t.Errorf("close: %v", err)
			}
			got, r := readAll(t, f.data)
			if ok != 2 || len(got) != ok || r.Torn() {
				t.Errorf("%d reported, %d there, torn %v", ok, len(got), r.Torn())
			}
		})
	}
}

// A failing step before the journal keeps the line out of it.
func TestBeforeFails(t *testing.T) {
	f := &fakeFile{}
	w, _ := Open("j", f.open, func() error { return errors.New("no room") })
	if err := w.Append(trial(1)); !errors.Is(err, ErrWrite) {
		t.Errorf("got %v", err)
	}
	w.Close()
	if len(f.data) > 0 {
		t.Error("the line was written")
	}
}

func TestCompress(t *testing.T) {
	dir := t.TempDir()
	w, err := Open(filepath.Join(dir, Name), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := w.Append(trial(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Compress(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, Name)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the plain journal is still there")
	}
	r, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for m, err := range r.All() {
		if err != nil || m.Trial.Ordinal != n {
			t.Fatalf("%v %v", m, err)
		}
		n++
	}
	if n != 100 || r.Torn() {
		t.Fatalf("%d messages, torn %v", n, r.Torn())
	}
}

func FuzzReader(f *testing.F) {
	var buf bytes.Buffer
	_ = appendLine(&buf, trial(1))
	f.Add(buf.Bytes())
	f.Add([]byte("{}\n"))
	f.Add([]byte("{\"end\":{\"counts\":null}}\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data), "j")
		n := 0
		for {
			m, err := r.Next()
			if err != nil {
				if err != io.EOF && !errors.Is(err, ErrCorrupt) {
					t.Fatalf("unclassified: %v", err)
				}
				break
			}
			n++
			var line bytes.Buffer
			if err := appendLine(&line, m); err != nil {
				t.Fatalf("a message that was read can't be written: %v", err)
			}
		}
		if r.Good() > int64(len(data)) {
			t.Fatal("more good bytes than bytes")
		}
		again := NewReader(bytes.NewReader(data[:r.Good()]), "j")
		for range n {
			if _, err := again.Next(); err != nil {
				t.Fatalf("the good part does not read: %v", err)
			}
		}
	})
}
