package scorers

import (
	"errors"
	"fmt"
	"iter"

	"github.com/fabriccore/assay/runner/journal"
)

// ErrNoRun is a journal that does not open with a run.
var ErrNoRun = errors.New("journal has no run")

// FromJournal reads a journal's frame (run, routes, notes, end) and leaves its
// trials to be streamed, so that a long run never stands in memory as a
// whole. open starts the message stream from its first line; it is called
// here and once more by [Score]. The caller adds labels, taxonomy, suite and
// policy.
func FromJournal(open func() (iter.Seq2[journal.Message, error], error)) (Input, error) {
	in := Input{Trials: func(yield func(journal.Trial, error) bool) {
		ms, err := open()
		if err != nil {
			yield(journal.Trial{}, err)
			return
		}
		for m, err := range ms {
			if err != nil {
				yield(journal.Trial{}, err)
				return
			}
			if m.Trial != nil && !yield(*m.Trial, nil) {
				return
			}
		}
	}}
	ms, err := open()
	if err != nil {
		return Input{}, err
	}
	opened := false
	for m, err := range ms {
		switch {
		case err != nil:
			return Input{}, fmt.Errorf("reading the journal: %w", err)
		case m.Run != nil && opened:
			return Input{}, fmt.Errorf("%w: it opens twice", ErrNoRun)
		case m.Run != nil:
			in.Run, opened = *m.Run, true
		case m.Route != nil:
			in.Routes = append(in.Routes, *m.Route)
		case m.Note != nil:
			in.Notes = append(in.Notes, *m.Note)
		case m.Resume != nil:
			in.End, in.Interrupted = nil, "" // a run that went on has not ended yet
			in.Resumes++
		case m.Interrupt != nil:
			in.Interrupted = m.Interrupt.Why
		case m.End != nil:
			in.End = m.End
		}
	}
	if !opened {
		return Input{}, ErrNoRun
	}
	return in, nil
}
