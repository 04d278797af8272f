package runner

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/runner/journal"
)

// session is the state of one process' work on a run.
type session struct {
	cfg         Config
	dir         string
	man         Manifest
	w           *journal.Writer
	transcripts *journal.Pack
	began       time.Time

	done        bits
	routes      map[string]journal.Route // by arm: the first fingerprint "before"
	resumedWith int

	mu       sync.Mutex // guards what follows
	counts   map[journal.Kind]int
	finished int
	held     []finishedTrial // trials in a row that found no server
	invalid  []string
	why      string
	failure  error
}

func newSession(cfg Config, dir string, man Manifest) *session {
	return &session{
		cfg: cfg, dir: dir, man: man, began: cfg.Now(), done: make(bits, (cfg.Plan.Len()+63)/64),
		routes: map[string]journal.Route{}, counts: map[journal.Kind]int{},
	}
}

func (s *session) now() time.Time { return s.cfg.Now().UTC() }

func (s *session) summary() Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Summary{
		ID: s.man.ID, Dir: s.dir, Planned: s.man.Plan.Trials, Finished: s.finished, Asked: s.finished - s.resumedWith,
		Counts: s.counts, Stopped: s.why, Invalid: s.invalid, Exploratory: s.man.Exploratory, Elapsed: s.cfg.Now().Sub(s.began),
	}
}

// bits is a set of ordinals.
type bits []uint64

func (b bits) has(i int) bool { return b[i/64]>>(i%64)&1 == 1 }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }

// The two times at which routes are read.
const (
	before = "before"
	after  = "after"
)

// fingerprints reads every arm's route and notes what differs from the plan
// or from the first reading: that makes the run invalid (design §3).
func (s *session) fingerprints(ctx context.Context, when string) error {
	for _, arm := range s.cfg.Plan.Arms {
		rctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		r, err := s.cfg.Targets[arm.Name].Fingerprint(rctx)
		cancel()
		if err != nil {
			return fmt.Errorf("%w: read the route of arm %s: %w", ErrInfrastructure, arm.Name, err)
		}
		r.When, r.Arm = when, arm.Name
		if err := s.w.Append(journal.Message{Route: &r}); err != nil {
			return err
		}
		drift := planned(arm, r)
		if first, ok := s.routes[arm.Name]; ok {
			if d := drifted(first, r); drift == "" {
				drift = d
			}
		} else {
			s.routes[arm.Name] = r
		}
		if drift != "" {
			if err := s.spoil(fmt.Sprintf("route of arm %s drifted: %s", arm.Name, drift)); err != nil {
				return err
			}
		}
	}
	return nil
}

// spoil notes, once, why the run is invalid.
func (s *session) spoil(text string) error {
	s.mu.Lock()
	for _, t := range s.invalid {
		if t == text {
			s.mu.Unlock()
			return nil
		}
	}
	s.invalid = append(s.invalid, text)
	s.mu.Unlock()
	return s.w.Append(journal.Message{Note: &journal.Note{At: s.now(), Level: "invalid", Text: text}})
}

// planned compares a route with the models that the plan was made for.
func planned(arm benchmarks.Arm, r journal.Route) string {
	if arm.Route == nil {
		return ""
	}
	want := arm.Models()
	for _, p := range r.Profiles {
		w, ok := want[p.Profile]
		if ok && w != "" && p.Digest != "" && bare(w) != bare(p.Digest) {
			return fmt.Sprintf("profile %s is planned with model digest %s and served with %s", p.Profile, w, p.Digest)
		}
	}
	return ""
}

func bare(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

// drifted says in one line how b differs from a, "" if it does not.
func drifted(a, b journal.Route) string { return strings.Join(a.Differs(b), "; ") }
