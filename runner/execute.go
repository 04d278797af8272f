package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/runner/progress"
)

// Execute runs a plan in a new run folder. When ctx is cancelled, nothing new
// is asked, what is in flight is finished, and the run can be resumed. Errors
// wrap the sentinels of this package and of package journal; the summary is
// meaningful with every error that came after the first message.
func Execute(ctx context.Context, cfg Config) (Summary, error) {
	if err := cfg.fill(); err != nil {
		return Summary{}, err
	}
	man := newManifest(&cfg)
	dir, err := createFolder(&cfg, &man)
	if err != nil {
		return Summary{}, err
	}
	unlock, err := lock(dir)
	if err != nil {
		return Summary{}, err
	}
	defer unlock()
	if err := recordLooks(&cfg, man); err != nil {
		discard(dir) // a run that never began
		return Summary{}, err
	}
	return newSession(cfg, dir, man).run(ctx, nil)
}

// Resume goes on with the run in dir. It refuses another corpus, arm, plan or
// build with ErrMismatch, cuts a torn tail off, and asks only what has no
// synced line. Of cfg, Runs, Exploratory and Tags are not used. A complete
// run is returned as it is.
func Resume(ctx context.Context, dir string, cfg Config) (Summary, error) {
	if err := cfg.fill(); err != nil {
		return Summary{}, err
	}
	man, err := ReadManifest(dir)
	if err != nil {
		return Summary{}, err
	}
	unlock, err := lock(dir)
	if err != nil {
		return Summary{}, err
	}
	defer unlock()
	if d := man.differs(&cfg); d != "" {
		return Summary{}, fmt.Errorf("%w: can't resume %s: %s", ErrMismatch, man.ID, d)
	}
	s := newSession(cfg, dir, man)
	r, err := s.restore()
	if err != nil {
		return Summary{}, err
	}
	if r.ended {
		return s.summary(), s.pack()
	}
	if err := recordLooks(&cfg, man); err != nil {
		return Summary{}, err
	}
	return s.run(ctx, r)
}

// restored is what an earlier session of the run left behind.
type restored struct {
	torn  bool
	begun bool // the Run line is there
	ended bool
}

// restore reads the journal of an earlier session and repairs its tail.
func (s *session) restore() (*restored, error) {
	r := &restored{}
	path := filepath.Join(s.dir, journal.Name)
	each := func(m journal.Message) error { return s.recall(m, r) }
	_, err := os.Stat(path)
	switch {
	case err == nil:
		if r.torn, err = journal.Repair(path, each); err != nil {
			return nil, err
		}
	case errors.Is(err, os.ErrNotExist):
		old, err := journal.OpenRun(s.dir)
		if errors.Is(err, os.ErrNotExist) {
			return r, nil // killed before the first line
		}
		if err != nil {
			return nil, err
		}
		defer old.Close()
		for m, err := range old.All() {
			if err == nil {
				err = each(m)
			}
			if err != nil {
				return nil, err
			}
		}
	default:
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	return r, nil
}

// recall takes one message of an earlier session into account.
func (s *session) recall(m journal.Message, r *restored) error {
	switch {
	case m.Run != nil:
		r.begun = true
		if what := s.man.opened(m.Run); what != "" {
			return fmt.Errorf("%w: %s: %s", journal.ErrCorrupt, s.dir, what)
		}
	case m.Trial != nil:
		t := m.Trial
		if t.Ordinal < 0 || t.Ordinal >= s.cfg.Plan.Len() || s.cfg.Plan.Trial(t.Ordinal).Key != t.Key {
			return fmt.Errorf("%w: %s: trial %s is not in the plan", journal.ErrCorrupt, s.dir, t.Key)
		}
		if s.done.has(t.Ordinal) {
			return fmt.Errorf("%w: %s: trial %s stands twice", journal.ErrCorrupt, s.dir, t.Key)
		}
		s.done.set(t.Ordinal)
		s.counts[t.Kind]++
		s.finished++
	case m.Route != nil && m.Route.When == before:
		if _, ok := s.routes[m.Route.Arm]; !ok {
			s.routes[m.Route.Arm] = *m.Route
		}
	case m.Note != nil && m.Note.Level == "invalid":
		s.invalid = append(s.invalid, m.Note.Text)
	case m.End != nil:
		r.ended = true
	}
	return nil
}

// run is one session of a run; r is nil for the first.
func (s *session) run(ctx context.Context, r *restored) (sum Summary, err error) {
	pack, err := journal.OpenPack(s.dir, s.cfg.Open)
	if err != nil {
		return Summary{}, err
	}
	s.transcripts = pack
	s.w, err = journal.Open(filepath.Join(s.dir, journal.Name), s.cfg.Open, pack.Flush)
	if err != nil {
		return Summary{}, errors.Join(err, pack.Close())
	}
	err = s.session(ctx, r)
	if cerr := s.w.Close(); err == nil {
		err = cerr
	}
	if cerr := pack.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = s.pack()
	}
	return s.summary(), err
}

// pack compresses the files of a complete run.
func (s *session) pack() error {
	if _, err := os.Stat(filepath.Join(s.dir, journal.Name)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	sweep(s.dir)
	err := journal.Repack(s.dir)
	if err == nil {
		err = journal.Compress(s.dir)
	}
	if err != nil && !errors.Is(err, journal.ErrCorrupt) {
		err = fmt.Errorf("%w: %w", journal.ErrWrite, err)
	}
	if err != nil {
		return s.resumable(err)
	}
	return nil
}

// session does the work between opening and closing the files.
func (s *session) session(ctx context.Context, r *restored) error {
	if r == nil || !r.begun {
		if err := s.w.Append(journal.Message{Run: s.runLine()}); err != nil {
			return err
		}
	}
	if r != nil {
		s.resumedWith = s.finished
		if err := s.w.Append(journal.Message{Resume: &journal.Resume{At: s.now(), Finished: s.finished, TornTail: r.torn, LinesSHA256: s.w.LinesSHA256()}}); err != nil {
			return err
		}
	}
	if err := s.prepareInTime(ctx); err != nil {
		return s.stopped(ctx, err)
	}
	if err := s.askAll(ctx); err != nil {
		return s.stopped(ctx, err)
	}
	if err := s.fingerprints(ctx, after); err != nil {
		return s.stopped(ctx, err)
	}
	sum := 0
	for _, n := range s.counts {
		sum += n
	}
	if sum != s.cfg.Plan.Len() {
		return fmt.Errorf("runner: %d trials are planned and %d were counted", s.cfg.Plan.Len(), sum)
	}
	return s.w.Append(journal.Message{End: &journal.End{At: s.now(), Planned: sum, Counts: s.counts, LinesSHA256: s.w.LinesSHA256()}})
}

// stopped writes why the run stopped early and turns it into the error that
// says how to go on. An error of the files themselves passes as it is.
func (s *session) stopped(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ErrDeadline):
		s.why = "deadline"
		// A partial report needs to know whether the routes held; a server that
		// hangs must not hold the run.
		fctx, cancel := context.WithTimeout(ctx, lastLook)
		ferr := s.fingerprints(fctx, after)
		cancel()
		if errors.Is(ferr, journal.ErrWrite) {
			return s.resumable(ferr)
		}
	case errors.Is(err, ErrInterrupted) || ctx.Err() != nil && !errors.Is(err, journal.ErrWrite):
		s.why, err = "signal", ErrInterrupted
	case errors.Is(err, ErrInfrastructure):
		s.why = "infrastructure"
	default:
		return s.resumable(err)
	}
	if werr := s.w.Append(journal.Message{Interrupt: &journal.Interrupt{At: s.now(), Why: s.why, Finished: s.finished, LinesSHA256: s.w.LinesSHA256()}}); werr != nil {
		return s.resumable(werr)
	}
	return s.resumable(err)
}

func (s *session) resumable(err error) error {
	return fmt.Errorf("%w; %d of %d trials are kept, go on with: assay resume %s", err, s.finished, s.cfg.Plan.Len(), shellWord(s.dir))
}

// sweep takes away what a kill while packing has left.
func sweep(dir string) {
	for _, name := range []string{journal.PackName, journal.IndexName, journal.PackedName} {
		left, _ := filepath.Glob(filepath.Join(dir, "."+name+"*"))
		for _, f := range left {
			_ = os.Remove(f)
		}
	}
}

// shellWord is a path that can be pasted into a shell.
func shellWord(s string) string {
	safe := func(r rune) bool {
		return r == '/' || r == '.' || r == '-' || r == '_' || r == '~' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	if s != "" && strings.TrimFunc(s, safe) == "" && !strings.HasPrefix(s, "~") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (s *session) runLine() *journal.Run {
	m := s.man
	return &journal.Run{
		ID: m.ID, Suite: m.Suite.Name, Started: m.Created, PlanDigest: m.Plan.Digest,
		CodeVersion: m.Code.Version, CodeDigest: m.Code.Digest, Planned: m.Plan.Trials,
		Exploratory: m.Exploratory, Tags: m.Tags, Host: m.Host, ManifestSHA256: m.sum,
	}
}

// prepareInTime prepares within the run's deadline.
func (s *session) prepareInTime(ctx context.Context) error {
	if s.cfg.Deadline <= 0 {
		return s.prepare(ctx)
	}
	dctx, cancel := context.WithTimeout(ctx, s.cfg.timeLeft())
	defer cancel()
	err := s.prepare(dctx)
	if err != nil && ctx.Err() == nil && dctx.Err() != nil {
		return deadlineError(s.cfg.Deadline)
	}
	return err
}

// prepare warms each arm and then, with every model loaded so that its context
// length can be read back, reads the routes' fingerprints.
func (s *session) prepare(ctx context.Context) error {
	task := s.cfg.Progress.Start("warming up", int64(len(s.cfg.Plan.Arms)), progress.Steps)
	for _, a := range s.cfg.Plan.Arms {
		task.Note(a.Name)
		if err := s.warm(ctx, a.Name); err != nil {
			task.Done(err)
			return err
		}
		task.Add(1)
	}
	task.Done(nil)
	return s.fingerprints(ctx, before)
}

func (s *session) warm(ctx context.Context, arm string) error {
	wctx, cancel := context.WithTimeout(ctx, s.cfg.warmLimit())
	defer cancel()
	calls, err := s.cfg.Targets[arm].Warm(wctx)
	if err != nil {
		return fmt.Errorf("%w: warm up arm %s: %w", ErrInfrastructure, arm, err)
	}
	return s.w.Append(journal.Message{Warmup: &journal.Warmup{Arm: arm, Calls: calls}})
}
