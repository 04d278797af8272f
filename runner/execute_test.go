package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner/journal"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("ASSAY_TEST_KILLED_RUN"); dir != "" {
		os.Exit(killedRun(dir))
	}
	goleak.VerifyTestMain(m)
}

// testPlan has n cases, two arms and the given repeats.
func testPlan(t testing.TB, n, repeats, inFlight int) *benchmarks.Plan {
	p, err := newTestPlan(n, repeats, inFlight)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newTestPlan(n, repeats, inFlight int) (*benchmarks.Plan, error) {
	c := &corpus.Corpus{
		Meta: corpus.Meta{Name: "c", Purpose: corpus.PurposeFrozen}, Digest: "sha256:corpus", CaseDigest: map[string]string{},
	}
	for i := range n {
		id := fmt.Sprintf("c%04d", i)
		c.Cases = append(c.Cases, corpus.Case{ID: id, Family: fmt.Sprint(i / 2)})
		c.CaseDigest[id] = "sha256:" + id
	}
	s := benchmarks.Suite{Name: "t", Repeats: repeats, InFlight: inFlight, CallTimeout: time.Minute, Candidate: "A"}
	return benchmarks.NewPlan(s, []benchmarks.Arm{{Name: "A", Digest: "sha256:a"}, {Name: "B", Digest: "sha256:b"}}, []*corpus.Corpus{c}, benchmarks.Selection{})
}

func testConfig(t testing.TB, p *benchmarks.Plan, a, b Target) Config {
	return Config{
		Plan: p, Targets: map[string]Target{"A": a, "B": b}, Runs: filepath.Join(t.TempDir(), "runs"), StateDir: t.TempDir(),
		Code: Code{"v1", "sha256:code"},
	}
}

// lines reads a run's journal.
func lines(t testing.TB, dir string) []journal.Message {
	t.Helper()
	r, err := journal.OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []journal.Message
	for m, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// shape is the order of a journal's messages.
func shape(ms []journal.Message) string {
	var b strings.Builder
	for _, m := range ms {
		switch {
		case m.Run != nil:
			b.WriteString("R")
		case m.Route != nil:
			b.WriteString(m.Route.When[:1])
		case m.Warmup != nil:
			b.WriteString("w")
		case m.Trial != nil:
			b.WriteString("t")
		case m.Note != nil:
			b.WriteString("n")
		case m.Resume != nil:
			b.WriteString("S")
		case m.Interrupt != nil:
			b.WriteString("I")
		case m.End != nil:
			b.WriteString("E")
		}
	}
	return b.String()
}

func TestExecute(t *testing.T) {
	a, b := &Fake{}, &Fake{}
	cfg := testConfig(t, testPlan(t, 5, 2, 1), a, b)
	sum, err := Execute(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Planned != 20 || sum.Finished != 20 || sum.Asked != 20 || sum.Counts[journal.Answered] != 20 || sum.Stopped != "" || a.Asked() != 10 {
		t.Errorf("%+v", sum)
	}
	ms := lines(t, sum.Dir)
	if got, want := shape(ms), "Rwwbb"+strings.Repeat("t", 20)+"aaE"; got != want {
		t.Errorf("got %s", got)
	}
	for i, m := range ms[5:25] {
		tr := cfg.Plan.Trial(i)
		if m.Trial.Key != tr.Key || m.Trial.Ordinal != i || m.Trial.Repeat != tr.Repeat || m.Trial.Corpus != "c" || m.Trial.ResponseSHA256 == "" {
			t.Errorf("trial %d: %+v", i, m.Trial)
		}
	}
	// H-006: the transcripts are there under the trials' keys.
	tr, err := journal.OpenTranscripts(sum.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	got, err := tr.Get(ms[5].Trial.Key)
	if err != nil || !strings.Contains(string(got.Response), ms[5].Trial.Case) || len(got.Calls) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	// one look, chained, for the frozen corpus.
	looks, err := ReadLooks(cfg.StateDir)
	if err != nil || len(looks) != 1 || looks[0].Run != sum.ID || looks[0].PlanDigest != cfg.Plan.Digest || len(looks[0].Arms) != 2 {
		t.Errorf("%+v %v", looks, err)
	}
	// A complete run resumes to itself.
	again, err := Resume(context.Background(), sum.Dir, cfg)
	if err != nil || again.Finished != 20 || a.Asked() != 10 {
		t.Errorf("%+v %v", again, err)
	}
	if dir, err := FindRun(cfg.Runs, "latest"); err != nil || dir != sum.Dir {
		t.Errorf("%s %v", dir, err)
	}
}

// H-015: each host has at most the configured calls in flight.
func TestH015MaxInFlight(t *testing.T) {
	f := &Fake{Latency: 2 * time.Millisecond}
	cfg := testConfig(t, testPlan(t, 40, 1, 3), f, f)
	if _, err := Execute(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if f.Peak() != 3 {
		t.Errorf("%d in flight", f.Peak())
	}
	a, b := &Fake{Latency: 2 * time.Millisecond}, &Fake{Latency: 2 * time.Millisecond}
	cfg = testConfig(t, testPlan(t, 20, 1, 1), a, b)
	cfg.HostOf = func(arm string) string { return arm }
	if _, err := Execute(context.Background(), cfg); err != nil || a.Peak() != 1 || b.Peak() != 1 {
		t.Errorf("%d and %d in flight, %v", a.Peak(), b.Peak(), err)
	}
}

// A target that panics, hangs or answers nonsense costs its own trial only.
func TestBadTargets(t *testing.T) {
	dirs := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		bad := &Fake{Reply: func(_ context.Context, c corpus.Case, _ int) Answer {
			switch c.ID {
			case "c0000":
				panic("out of\ncheese")
			case "c0001":
				<-free // ignores its context
			}
			return Answer{}
		}}
		cfg := testConfig(t, testPlan(t, 3, 1, 1), bad, &Fake{})
		cfg.Runs = dirs
		sum, err := Execute(context.Background(), cfg)
		close(free)
		if err != nil || sum.Counts[journal.InfraError] != 3 || sum.Counts[journal.Answered] != 3 {
			t.Fatalf("%+v %v", sum, err)
		}
		for _, m := range lines(t, sum.Dir) {
			if m.Trial == nil || m.Trial.Arm != "A" {
				continue
			}
			want := map[string]string{"c0000": "panicked: out of", "c0001": "did not return", "c0002": "no response kind"}[m.Trial.Case]
			if !strings.Contains(m.Trial.Error, want) || strings.Contains(m.Trial.Error, "\n") {
				t.Errorf("%s: %q", m.Trial.Case, m.Trial.Error)
			}
			if m.Trial.Case == "c0001" && (!m.Trial.Timing.Censored || m.Trial.Timing.Total < cfg.Plan.Suite.CallTimeout) {
				t.Errorf("%+v", m.Trial.Timing)
			}
		}
		synctest.Wait()
	})
}

// A call that times out on a healthy server is the target's to classify.
func TestCallTimeout(t *testing.T) {
	dirs := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig(t, testPlan(t, 2, 1, 1), &Fake{Latency: time.Hour}, &Fake{})
		cfg.Runs = dirs
		began := time.Now()
		sum, err := Execute(context.Background(), cfg)
		if err != nil || sum.Counts[journal.ModelError] != 2 || time.Since(began) > 3*time.Minute {
			t.Errorf("%+v %v", sum, err)
		}
	})
}

// Three trials in a row without a server stop the run; they are asked again
// on resume. Fewer are infrastructure errors.
func TestInfraDown(t *testing.T) {
	down := true
	n := 0
	f := &Fake{Reply: func(context.Context, corpus.Case, int) Answer {
		n++
		if n > 4 && down {
			return Answer{Trial: journal.Trial{Kind: journal.InfraError, Error: "connection refused"}, InfraDown: true}
		}
		return Answer{Trial: journal.Trial{Kind: journal.Answered}}
	}}
	cfg := testConfig(t, testPlan(t, 6, 1, 1), f, f)
	sum, err := Execute(context.Background(), cfg)
	if !errors.Is(err, ErrInfrastructure) || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), "assay resume "+sum.Dir) {
		t.Fatalf("got %v", err)
	}
	if sum.Finished != 4 || sum.Stopped != "infrastructure" || f.Asked() != 7 {
		t.Errorf("%+v, asked %d", sum, f.Asked())
	}
	if got := shape(lines(t, sum.Dir)); got != "RwwbbttttI" {
		t.Errorf("got %s", got)
	}
	down = false
	sum, err = Resume(context.Background(), sum.Dir, cfg)
	if err != nil || sum.Finished != 12 || sum.Asked != 8 || sum.Counts[journal.Answered] != 12 {
		t.Errorf("%+v %v", sum, err)
	}
	if got := shape(lines(t, sum.Dir)); got != "RwwbbttttISwwbbttttttttaaE" {
		t.Errorf("got %s", got)
	}
	if looks, _ := ReadLooks(cfg.StateDir); len(looks) != 1 {
		t.Errorf("%d looks: a resume is no new one", len(looks))
	}

	blip := 0
	f = &Fake{Reply: func(context.Context, corpus.Case, int) Answer {
		blip++
		kind := journal.Answered
		if blip == 2 || blip == 3 || blip == 12 {
			kind = journal.InfraError
		}
		return Answer{Trial: journal.Trial{Kind: kind}, InfraDown: kind == journal.InfraError}
	}}
	sum, err = Execute(context.Background(), testConfig(t, testPlan(t, 6, 1, 1), f, f))
	if err != nil || sum.Counts[journal.InfraError] != 3 || sum.Counts[journal.Answered] != 9 {
		t.Errorf("%+v %v", sum, err)
	}
}

// A server that is not there at the start is no run at all, and says so.
func TestNoServer(t *testing.T) {
	for _, f := range []*Fake{{WarmErr: errors.New("refused")}, {RouteErr: errors.New("refused")}} {
		sum, err := Execute(context.Background(), testConfig(t, testPlan(t, 2, 1, 1), f, &Fake{}))
		if !errors.Is(err, ErrInfrastructure) || f.Asked() != 0 || sum.Stopped != "infrastructure" {
			t.Errorf("%+v %v", sum, err)
		}
	}
}

// The first signal finishes what is in flight; the second gives it up.
func TestInterrupt(t *testing.T) {
	for _, aborted := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		abort := make(chan struct{})
		n := 0
		f := &Fake{}
		f.Reply = func(ctx context.Context, _ corpus.Case, _ int) Answer {
			if n++; n == 3 {
				cancel()
				if aborted {
					close(abort)
					<-ctx.Done()
				}
			}
			return Answer{Trial: journal.Trial{Kind: journal.Answered}}
		}
		cfg := testConfig(t, testPlan(t, 4, 1, 1), f, f)
		cfg.Abort = abort
		sum, err := Execute(ctx, cfg)
		if !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "go on with: assay resume "+sum.Dir) || sum.Stopped != "signal" {
			t.Fatalf("%+v %v", sum, err)
		}
		want := 3
		if aborted {
			want = 2
		}
		if sum.Finished != want {
			t.Errorf("aborted %v: %d finished", aborted, sum.Finished)
		}
		f.Reply, cfg.Abort = nil, nil
		if sum, err = Resume(context.Background(), sum.Dir, cfg); err != nil || sum.Finished != 8 || sum.Asked != 8-want {
			t.Errorf("%+v %v", sum, err)
		}
	}
}

func TestDeadline(t *testing.T) {
	dirs := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := &Fake{Latency: 10 * time.Second}
		cfg := testConfig(t, testPlan(t, 10, 1, 1), f, f)
		cfg.Runs, cfg.Deadline = dirs, 35*time.Second
		sum, err := Execute(context.Background(), cfg)
		if !errors.Is(err, ErrDeadline) || sum.Finished != 4 || sum.Stopped != "deadline" {
			t.Errorf("%+v %v", sum, err)
		}
		if got := shape(lines(t, sum.Dir)); got != "RwwbbttttaaI" {
			t.Errorf("got %s", got)
		}
	})
}

// Design §3: a route that changed makes the run invalid.
func TestDrift(t *testing.T) {
	cfg := testConfig(t, testPlan(t, 2, 1, 1), &Fake{Drift: true, Route: journal.Route{ServerVersion: "1"}}, &Fake{})
	sum, err := Execute(context.Background(), cfg)
	if err != nil || len(sum.Invalid) != 1 || !strings.Contains(sum.Invalid[0], `server version was 1, is 1-other`) {
		t.Errorf("%+v %v", sum, err)
	}
	ms := lines(t, sum.Dir)
	if got := shape(ms); got != "RwwbbttttanaE" || ms[10].Note.Level != "invalid" {
		t.Errorf("got %s", got)
	}
}

// H-014: a full disk stops the run with one line, keeps what was synced, and
// the run goes on when there is room again.
func TestH014DiskFull(t *testing.T) {
	f := &Fake{Latency: 5 * time.Millisecond}
	cfg := testConfig(t, testPlan(t, 30, 1, 1), f, f)
	cfg.Open = func(path string) (journal.File, int64, error) {
		file, size, err := journal.OpenFile(path)
		return &filling{File: file, room: 20000, journal: filepath.Base(path) == journal.Name}, size, err
	}
	sum, err := Execute(context.Background(), cfg)
	if !errors.Is(err, journal.ErrWrite) || !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v", err)
	}
	kept := strings.Count(shape(lines(t, sum.Dir)), "t")
	if kept != sum.Finished || kept == 0 || kept == 60 {
		t.Errorf("%d kept, %d finished", kept, sum.Finished)
	}
	cfg.Open = nil
	sum, err = Resume(context.Background(), sum.Dir, cfg)
	if err != nil || sum.Finished != 60 || sum.Asked != 60-kept {
		t.Errorf("%+v %v", sum, err)
	}
}

// filling is a file on a disk that is full after room bytes.
type filling struct {
	journal.File
	room    int
	journal bool
}

func (f *filling) Write(p []byte) (int, error) {
	if !f.journal {
		return f.File.Write(p)
	}
	if len(p) > f.room {
		n, _ := f.File.Write(p[:f.room])
		f.room = 0
		return n, &os.PathError{Op: "write", Path: "journal.jsonl", Err: syscall.ENOSPC}
	}
	f.room -= len(p)
	return f.File.Write(p)
}
