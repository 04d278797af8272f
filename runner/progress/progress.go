// Package progress owns how long work is shown to a person or a CI log while
// it runs: a name, how far it is, how fast, and how long it will still take.
//
// It refuses to know what the work is, to fail the work it shows, and to write
// anywhere but the writer it was given (by convention standard error; standard
// output belongs to machine output).
package progress

import (
	"io"
	"sync"
	"time"
)

// Unit says what a task counts.
type Unit int

const (
	// Bytes are shown in decimal units (kB, MB, GB).
	Bytes Unit = iota
	// Items are things of equal weight: cases, files, calls.
	Items
	// Steps are the stages of one job; they are not of equal weight, so no rate
	// is shown.
	Steps
	// Seconds makes the task an estimate: its total is the expected duration in
	// seconds, and it advances by itself. It never claims to be finished before
	// Done is called.
	Seconds
)

// Reporter shows tasks.
type Reporter interface {
	// Start begins a task. total is in unit; 0 means that it is not known.
	Start(name string, total int64, unit Unit) Task
}

// Task is one piece of work being shown. Its methods may be called from many
// goroutines; calls after Done do nothing.
type Task interface {
	// Add advances the task by n of its unit.
	Add(n int64)
	// Note sets a short text about what the task is doing now.
	Note(text string)
	// Done ends the task; a non-nil err marks it as failed. The error itself is
	// the caller's to print.
	Done(err error)
}

// Choose returns the reporter that fits an output: bars on a terminal of the
// given width in columns, and plain lines every ten seconds elsewhere and where
// bars were switched off. Nothing is shown without a writer.
func Choose(w io.Writer, isTerminal, noProgress bool, width int) Reporter {
	switch {
	case w == nil:
		return Discard()
	case isTerminal && !noProgress:
		return Terminal(w, width)
	default:
		return Plain(w, 10*time.Second, time.Now)
	}
}

// Discard returns a reporter that shows nothing.
func Discard() Reporter { return discard{} }

type discard struct{}

func (discard) Start(string, int64, Unit) Task { return discard{} }
func (discard) Add(int64)                      {}
func (discard) Note(string)                    {}
func (discard) Done(error)                     {}

// Reader returns r with every byte read counted on task.
func Reader(r io.Reader, task Task) io.Reader { return counter{r, task} }

type counter struct {
	r    io.Reader
	task Task
}

func (c counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.task.Add(int64(n))
	return n, err
}

// state is what every visible task keeps; the reporters differ only in when
// and how they show it.
type state struct {
	name  string
	total int64
	unit  Unit
	now   func() time.Time
	began time.Time

	mu    sync.Mutex
	count int64
	note  string
	ended bool
}

func newState(name string, total int64, unit Unit, now func() time.Time) *state {
	return &state{name: name, total: max(total, 0), unit: unit, now: now, began: now()}
}

// view is a consistent copy of a task at one moment.
type view struct {
	name    string
	unit    Unit
	count   int64
	total   int64 // 0: not known
	note    string
	elapsed time.Duration
}

func (s *state) view() view {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := view{name: s.name, unit: s.unit, count: s.count, total: s.total, note: s.note, elapsed: s.now().Sub(s.began)}
	if v.unit == Seconds {
		v.count += int64(v.elapsed / time.Second)
		// An estimate that has run out stays just below its end.
		if v.total > 0 && v.count >= v.total && !s.ended {
			v.count = v.total - 1
		}
	}
	return v
}

// finish marks the task as ended and reports whether this call did it.
func (s *state) finish() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.ended
	s.ended = true
	return first
}

// add and setNote report whether the task is still running.
func (s *state) add(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.count += n
	}
	return !s.ended
}

func (s *state) setNote(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.note = text
	}
	return !s.ended
}
