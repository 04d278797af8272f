package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ollama/ollama/api"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fabriccore/assay/specialists/route/ollamatest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"assay": main})
}

// fakeTag is the one model of the scripts' server.
const fakeTag = "fake:1"

// TestScripts runs the documented commands as a user would, each script with
// a fake Ollama of its own behind real HTTP.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			s := ollamatest.New(ollamatest.Model{Tag: fakeTag, Digest: strings.Repeat("a", 64), Template: "{{ .Prompt }}"})
			e.Defer(s.Close)
			e.Values["server"] = s
			e.Setenv("OLLAMA_HOST", s.URL)
			e.Setenv("DEVELOPMENT", filepath.Join(root, "corpus", "development-v0"))
			e.Setenv("PILOT", filepath.Join(root, "corpus", "pilot-v1"))
			e.Setenv("ASSAY_CACHE", filepath.Join(e.WorkDir, "cache"))
			e.Setenv("ASSAY_STATE", filepath.Join(e.WorkDir, "state"))
			e.Setenv("ASSAY_NO_PROGRESS", "1")
			e.Setenv("ASSAY_RUNS", "runs")
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"rc": rc, "ollama": fakeOllama, "subst": subst, "flip": flip, "lines": lineCount, "edit": edit,
		},
	})
}

// rc CODE COMMAND…: run a command that must end with that exit code.
func rc(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if ee := (*exec.ExitError)(nil); errors.As(err, &ee) {
		got = ee.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// ollama drift N | latency D | hang PATH | stop | asked MIN MAX: work on the fake server.
func fakeOllama(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value("server").(*ollamatest.Server)
	switch args[0] {
	case "drift":
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		var calls atomic.Int64
		s.Reply(func(q api.ChatRequest) ollamatest.Reply {
			if calls.Add(1) == int64(n) {
				s.SetDigest(fakeTag, strings.Repeat("b", 64))
			}
			return ollamatest.FirstFit(q)
		})
	case "latency":
		d, err := time.ParseDuration(args[1])
		ts.Check(err)
		s.Latency(d)
	case "await":
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		for deadline := time.Now().Add(20 * time.Second); s.Asked() < n; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				ts.Fatalf("%d of %d calls came", s.Asked(), n)
			}
		}
	case "hang": // a path for ever; '' ends it
		for _, p := range []string{"/api/tags", args[1]} {
			s.Inject(p, "", 0)
		}
		if args[1] != "" {
			s.Inject(args[1], ollamatest.Hang, -1)
		}
	case "stop":
		s.Close()
	case "asked":
		lo, err := strconv.Atoi(args[1])
		ts.Check(err)
		hi, err := strconv.Atoi(args[2])
		ts.Check(err)
		if n := s.Asked(); n < lo || n > hi {
			ts.Fatalf("the server was asked %d times, not %d to %d", n, lo, hi)
		}
	default:
		ts.Fatalf("ollama %s?", args[0])
	}
}

// subst FILE: replace $NAME in a file by the environment.
func subst(ts *testscript.TestScript, _ bool, args []string) {
	p := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(p, []byte(os.Expand(ts.ReadFile(p), func(k string) string { return ts.Getenv(k) })), 0o644))
}

// flip FILE: change one byte in the middle of a file.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	p := ts.MkAbs(args[0])
	b, err := os.ReadFile(p)
	ts.Check(err)
	b[len(b)/2] ^= 1
	ts.Check(os.Chmod(p, 0o644))
	ts.Check(os.WriteFile(p, b, 0o644))
}

// edit PATTERN OLD NEW: replace the first OLD in the one file that fits, inside
// of its compression.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s: %d files", args[0], len(found))
	}
	b, err := os.ReadFile(found[0])
	ts.Check(err)
	packed := strings.HasSuffix(found[0], ".zst")
	if packed {
		d, err := zstd.NewReader(nil)
		ts.Check(err)
		b, err = d.DecodeAll(b, nil)
		ts.Check(err)
		d.Close()
	}
	changed := strings.Replace(string(b), args[1], args[2], 1)
	if changed == string(b) {
		ts.Fatalf("no %q in %s", args[1], found[0])
	}
	b = []byte(changed)
	if packed {
		e, err := zstd.NewWriter(nil)
		ts.Check(err)
		b = e.EncodeAll(b, nil)
	}
	ts.Check(os.WriteFile(found[0], b, 0o644))
}

// lines N: the last command printed N lines on standard error.
func lineCount(ts *testscript.TestScript, _ bool, args []string) {
	got := strings.TrimSpace(ts.ReadFile("stderr"))
	if n := len(strings.Split(got, "\n")); fmt.Sprint(n) != args[0] {
		ts.Fatalf("%d lines, want %s:\n%s", n, args[0], got)
	}
}
