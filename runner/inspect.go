package runner

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/fabriccore/assay/runner/journal"
)

// Status is what a run folder tells about its run.
type Status struct {
	ID          string               `json:"id"`
	Dir         string               `json:"dir"`
	Suite       string               `json:"suite"`
	Started     time.Time            `json:"started"`
	Planned     int                  `json:"planned"`
	Finished    int                  `json:"finished"`
	Counts      map[journal.Kind]int `json:"counts"`
	State       string               `json:"state"` // "complete", "running", "stopped: WHY", "killed", "empty"
	Invalid     []string             `json:"invalid,omitempty"`
	Exploratory []string             `json:"exploratory,omitempty"`
	Error       string               `json:"error,omitempty"` // why the rest could not be read
}

// Inspect reads a run's state. A damaged run is no error: Status.Error says
// what is wrong with it.
func Inspect(dir string) Status {
	s := Status{ID: filepath.Base(dir), Dir: dir, Counts: map[journal.Kind]int{}, State: "empty"}
	m, err := ReadManifest(dir)
	if err != nil {
		s.Error = err.Error()
		return s
	}
	s.ID, s.Suite, s.Started, s.Planned, s.Exploratory = m.ID, m.Suite.Name, m.Created, m.Plan.Trials, m.Exploratory
	r, err := journal.OpenRun(dir)
	if err == nil {
		defer r.Close()
		for m, rerr := range r.All() {
			if err = rerr; err != nil {
				break
			}
			s.take(m)
		}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Error = err.Error()
	}
	if s.State != "complete" && isLocked(dir) {
		s.State = "running"
	}
	return s
}

func (s *Status) take(m journal.Message) {
	switch {
	case m.Trial != nil:
		s.Counts[m.Trial.Kind]++
		s.Finished++
	case m.Note != nil && m.Note.Level == "invalid":
		s.Invalid = append(s.Invalid, m.Note.Text)
	}
	switch {
	case m.Interrupt != nil:
		s.State = "stopped: " + m.Interrupt.Why
	case m.End != nil:
		s.State = "complete"
	default:
		s.State = "killed" // unless more follows, or it is running
	}
}

func isLocked(dir string) bool {
	path := filepath.Join(dir, lockName)
	if _, err := os.Stat(path); err != nil {
		return false
	}
	l := flock.New(path)
	ok, err := l.TryLock()
	if ok {
		_ = l.Unlock()
	}
	return err == nil && !ok
}
