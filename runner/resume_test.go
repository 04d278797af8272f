package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/runner/progress"
)

// stoppedRun is a run that was interrupted after n trials.
func stoppedRun(t *testing.T, cfg Config, n int) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	asked := 0
	f := &Fake{Reply: func(context.Context, corpus.Case, int) Answer {
		if asked++; asked == n {
			cancel()
		}
		return Answer{Trial: journal.Trial{Kind: journal.Answered}}
	}}
	cfg.Targets = map[string]Target{"A": f, "B": f}
	sum, err := Execute(ctx, cfg)
	if !errors.Is(err, ErrInterrupted) || sum.Finished != n {
		t.Fatalf("%+v %v", sum, err)
	}
	return sum.Dir
}

// H-014, F-157: a run goes on only with what it was started with.
func TestH014ResumeRefuses(t *testing.T) {
	cfg := testConfig(t, testPlan(t, 4, 1, 1), &Fake{}, &Fake{})
	dir := stoppedRun(t, cfg, 3)
	for name, tc := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"code": {func(c *Config) { c.Code.Digest = "sha256:other" }, "the code was v1"},
		"corpus": {func(c *Config) {
			x := *c.Plan.Corpora[0]
			x.Digest = "sha256:edited"
			c.Plan = replan(t, c.Plan.Suite, c.Plan.Arms, &x)
		}, "corpus c had digest sha256:corpus"},
		"arm": {func(c *Config) {
			arms := append([]benchmarks.Arm{}, c.Plan.Arms...)
			arms[1].Digest = "sha256:other"
			c.Plan = replan(t, c.Plan.Suite, arms, c.Plan.Corpora[0])
		}, "arm B had digest"},
		"plan": {func(c *Config) {
			s := c.Plan.Suite
			s.Repeats = 2
			c.Plan = replan(t, s, c.Plan.Arms, c.Plan.Corpora[0])
		}, "the plan had digest"},
	} {
		other := cfg
		tc.change(&other)
		_, err := Resume(context.Background(), dir, other)
		if !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if sum, err := Resume(context.Background(), dir, cfg); err != nil || sum.Asked != 5 {
		t.Errorf("%+v %v", sum, err)
	}
}

func replan(t *testing.T, s benchmarks.Suite, arms []benchmarks.Arm, c *corpus.Corpus) *benchmarks.Plan {
	t.Helper()
	p, err := benchmarks.NewPlan(s, arms, []*corpus.Corpus{c}, benchmarks.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// H-014: a torn last line is cut off and its trial asked again; damage before
// it is refused.
func TestH014ResumeTornAndDamaged(t *testing.T) {
	cfg := testConfig(t, testPlan(t, 4, 1, 1), &Fake{}, &Fake{})
	dir := stoppedRun(t, cfg, 3)
	path := filepath.Join(dir, journal.Name)
	data, _ := os.ReadFile(path)
	all := bytes.SplitAfter(data, []byte("\n"))
	third := bytes.Join(all[:7], nil) // R b b w w t t
	torn := append(append([]byte{}, third...), all[7][:40]...)
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := Resume(context.Background(), dir, cfg)
	if err != nil || sum.Finished != 8 || sum.Asked != 6 {
		t.Fatalf("%+v %v", sum, err)
	}
	if m := lines(t, dir)[7]; m.Resume == nil || !m.Resume.TornTail || m.Resume.Finished != 2 {
		t.Errorf("%+v", m)
	}

	for name, bad := range map[string][]byte{
		"cut inside":   append(append([]byte{}, data[:len(data)/2]...), data[len(data)/2+9:]...),
		"stands twice": append(append([]byte{}, third...), all[6]...),
		"foreign":      bytes.Replace(data, []byte(`"ordinal":1`), []byte(`"ordinal":2`), 1),
	} {
		dir := stoppedRun(t, cfg, 3)
		data, _ := os.ReadFile(filepath.Join(dir, journal.Name))
		if name == "stands twice" {
			l := bytes.SplitAfter(data, []byte("\n"))
			bad = append(append([]byte{}, data...), l[6]...)
		}
		if err := os.WriteFile(filepath.Join(dir, journal.Name), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Resume(context.Background(), dir, cfg); !errors.Is(err, journal.ErrCorrupt) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A second process on the same run gets one clear line.
func TestLock(t *testing.T) {
	cfg := testConfig(t, testPlan(t, 4, 1, 1), &Fake{}, &Fake{})
	dir := stoppedRun(t, cfg, 3)
	unlock, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(context.Background(), dir, cfg); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v", err)
	}
	unlock()
	if _, err := Resume(context.Background(), dir, cfg); err != nil {
		t.Error(err)
	}
}

// H-014, F-171: killed with SIGKILL at random moments and resumed, a run ends
// with every trial once, no trial that has a line is asked again, and every
// trial has its transcript.
func TestH014F171KillAndResume(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	kills := 0
	for {
		synced := finishedKeys(t, dir)
		asked := countLines(t, calls)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "ASSAY_TEST_KILLED_RUN="+dir)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The first kills wait for some calls, so that they come in the middle
		// of a run however fast the machine is; the others come at any moment.
		done := make(chan struct{})
		go func() {
			late := time.After(time.Duration(20+rand.IntN(250+20*kills)) * time.Millisecond)
			if kills < 3 {
				late = nil
			}
			for enough := asked + 1 + rand.IntN(25); ; {
				select {
				case <-done:
					return
				case <-late:
					_ = cmd.Process.Kill()
					return
				case <-time.After(time.Millisecond):
				}
				if data, _ := os.ReadFile(calls); late == nil && bytes.Count(data, []byte("\n")) >= enough {
					_ = cmd.Process.Kill()
					return
				}
			}
		}()
		err := cmd.Wait()
		close(done)
		data, _ := os.ReadFile(calls)
		for _, l := range bytes.Split(data, []byte("\n"))[asked:] {
			if synced[string(l)] {
				t.Fatalf("trial %s has a line and was asked again", l)
			}
		}
		if err == nil {
			break
		}
		if code := cmd.ProcessState.ExitCode(); code >= 0 {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		if kills++; kills > 60 {
			t.Fatal("no progress")
		}
	}
	if kills == 0 {
		t.Error("the run was never killed")
	}
	p := testPlan(t, killedCases, 1, killedInFlight)
	keys := finishedKeys(t, dir)
	if len(keys) != p.Len() {
		t.Errorf("%d of %d trials", len(keys), p.Len())
	}
	runs, _ := Runs(filepath.Join(dir, "runs"))
	tr, err := journal.OpenTranscripts(runs[len(runs)-1])
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	for k := range keys {
		if _, err := tr.Get(k); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d kills, %d trials, %d asked", kills, p.Len(), countLines(t, calls))
}

const killedCases, killedInFlight = 60, 4

// killedRun is the process that TestH014F171KillAndResume kills.
func killedRun(dir string) int {
	p, err := newTestPlan(killedCases, 1, killedInFlight)
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	target := func(arm string) Target {
		return &Fake{Latency: 5 * time.Millisecond, Reply: func(_ context.Context, c corpus.Case, repeat int) Answer {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintln(f, benchmarks.Key("sha256:"+c.ID, "sha256:"+strings.ToLower(arm), repeat))
			return Answer{Trial: journal.Trial{Kind: journal.Answered}, Request: []byte(c.ID), Response: []byte("{}")}
		}}
	}
	cfg := Config{
		Plan: p, Targets: map[string]Target{"A": target("A"), "B": target("B")},
		Runs: filepath.Join(dir, "runs"), StateDir: filepath.Join(dir, "state"), Code: Code{"v1", "sha256:code"},
	}
	runs, err := Runs(cfg.Runs)
	if err == nil && len(runs) > 0 {
		_, err = Resume(context.Background(), runs[len(runs)-1], cfg)
	} else if err == nil {
		_, err = Execute(context.Background(), cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// finishedKeys reads the keys of the newest run's trials, each once.
func finishedKeys(t *testing.T, dir string) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	runs, err := Runs(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) == 0 {
		return keys
	}
	r, err := journal.OpenRun(runs[len(runs)-1])
	if errors.Is(err, os.ErrNotExist) {
		return keys
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for m, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if m.Trial == nil {
			continue
		}
		if keys[m.Trial.Key] {
			t.Fatalf("trial %s stands twice", m.Trial.Key)
		}
		keys[m.Trial.Key] = true
	}
	return keys
}

func countLines(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte("\n"))
}

// the ledger's chain shows a changed, an added and a removed line, and
// a torn last one is written over.
func TestQ44LooksChain(t *testing.T) {
	state := t.TempDir()
	cfg := testConfig(t, testPlan(t, 1, 1, 1), &Fake{}, &Fake{})
	cfg.StateDir = state
	for range 3 {
		if _, err := Execute(context.Background(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(state, LooksName)
	data, _ := os.ReadFile(path)
	l := bytes.SplitAfter(data, []byte("\n"))
	for name, bad := range map[string][]byte{
		"changed": bytes.Replace(data, []byte(`"suite":"t"`), []byte(`"suite":"u"`), 1),
		"added":   bytes.Join([][]byte{l[0], l[0], l[1], l[2]}, nil),
		"removed": bytes.Join([][]byte{l[0], l[2]}, nil),
	} {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadLooks(state); !errors.Is(err, journal.ErrCorrupt) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := Execute(context.Background(), cfg); !errors.Is(err, journal.ErrCorrupt) {
			t.Errorf("%s: a run went on: %v", name, err)
		}
	}
	if err := os.WriteFile(path, data[:len(data)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Execute(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	looks, err := ReadLooks(state)
	if err != nil || len(looks) != 3 || looks[2].Prev != looks[1].Hash {
		t.Errorf("%+v %v", looks, err)
	}
	cfg.StateDir = ""
	if _, err := Execute(context.Background(), cfg); err == nil {
		t.Error("a look at a frozen corpus was not recorded")
	}
}

// the host is a hardware class and nothing that names a machine.
func TestQ50Host(t *testing.T) {
	h := readHost(func(path string) []byte {
		return []byte(map[string]string{
			"/proc/cpuinfo": "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\n", "/proc/meminfo": "MemTotal:       16384000 kB\n",
			"/proc/sys/kernel/osrelease": "6.18.1-generic\n",
		}[path])
	})
	if h.CPU != "Some CPU @ 2.0GHz" || h.MemoryMB != 16000 || h.KernelMajor != "6" || h.Cores < 1 {
		t.Errorf("%+v", h)
	}
}

func TestInspect(t *testing.T) {
	cfg := testConfig(t, testPlan(t, 4, 1, 1), &Fake{}, &Fake{})
	dir := stoppedRun(t, cfg, 3)
	if s := Inspect(dir); s.State != "stopped: signal" || s.Finished != 3 || s.Planned != 8 || s.Error != "" {
		t.Errorf("%+v", s)
	}
	unlock, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s := Inspect(dir); s.State != "running" {
		t.Errorf("%+v", s)
	}
	unlock()
	path := filepath.Join(dir, journal.Name)
	data, _ := os.ReadFile(path)
	l := bytes.SplitAfter(data, []byte("\n"))
	if err := os.WriteFile(path, bytes.Join(l[:6], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := Inspect(dir); s.State != "killed" || s.Finished != 1 {
		t.Errorf("%+v", s)
	}
	if _, err := Resume(context.Background(), dir, cfg); err != nil {
		t.Fatal(err)
	}
	if s := Inspect(dir); s.State != "complete" || s.Finished != 8 {
		t.Errorf("%+v", s)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := Inspect(dir); !strings.Contains(s.Error, "journal.jsonl:1") {
		t.Errorf("%+v", s)
	}
}

// Q-44, H-014: a run whose look could not be recorded leaves nothing to go on
// with, and one that was killed before its look is recorded when it goes on,
// once.
func TestQ44H014NoRunWithoutLook(t *testing.T) {
	cfg := testConfig(t, testPlan(t, 2, 1, 1), &Fake{}, &Fake{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	state := cfg.StateDir
	cfg.StateDir = file // no folder: it can't be written
	_, err := Execute(context.Background(), cfg)
	if !errors.Is(err, ErrFolder) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v", err)
	}
	if dirs, _ := Runs(cfg.Runs); len(dirs) != 0 {
		t.Fatalf("left %v", dirs)
	}
	if err := CheckFolder(file, "x"); !errors.Is(err, ErrFolder) {
		t.Errorf("got %v", err)
	}

	cfg.StateDir = state
	if err := cfg.fill(); err != nil {
		t.Fatal(err)
	}
	man := newManifest(&cfg)
	dir, err := createFolder(&cfg, &man) // and killed
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Resume(context.Background(), dir, cfg); err != nil {
			t.Fatal(err)
		}
		if looks, err := ReadLooks(state); err != nil || len(looks) != 1 || looks[0].Run != filepath.Base(dir) {
			t.Fatalf("%+v %v", looks, err)
		}
	}
}

// H-014: a disk that is full when a complete run is packed loses nothing; going
// on packs it, and takes away what a kill while packing had left.
func TestH014PackLater(t *testing.T) {
	cfg := testConfig(t, testPlan(t, 4, 1, 1), &Fake{}, &Fake{})
	block := ""
	cfg.Progress = onAsking(func() { // a folder where the packed journal is to go
		dirs, _ := Runs(cfg.Runs)
		block = filepath.Join(dirs[0], journal.PackedName)
		if err := os.MkdirAll(filepath.Join(block, "full"), 0o755); err != nil {
			t.Error(err)
		}
	})
	sum, err := Execute(context.Background(), cfg)
	if !errors.Is(err, journal.ErrWrite) || !strings.Contains(err.Error(), "8 of 8 trials are kept, go on with: assay resume") {
		t.Fatalf("got %v", err)
	}
	if err := os.RemoveAll(block); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(sum.Dir, "."+journal.PackName+"123")
	if err := os.WriteFile(left, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Progress = nil
	sum, err = Resume(context.Background(), sum.Dir, cfg)
	if err != nil || sum.Finished != 8 || sum.Asked != 8 {
		t.Errorf("%+v %v", sum, err)
	}
	if _, err := os.Stat(block); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there", left)
	}
}

// onAsking calls f when a run begins to ask.
type onAsking func()

func (f onAsking) Start(name string, total int64, unit progress.Unit) progress.Task {
	if name == "asking" {
		f()
	}
	return progress.Discard().Start(name, total, unit)
}

// H-014: the line that says how to go on can be pasted into a shell.
func TestH014ShellWord(t *testing.T) {
	for in, want := range map[string]string{"runs/2026-a": "runs/2026-a", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", "": "''"} {
		if got := shellWord(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
