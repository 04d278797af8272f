package runner

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/runner/progress"
)

// Sentinel errors; commands map them to exit codes in one place.
var (
	// ErrInfrastructure means that servers could not be reached; the run kept
	// what it had and can be resumed (exit 5).
	ErrInfrastructure = errors.New("infrastructure failed")
	// ErrInterrupted means that a signal stopped the run in order (exit 130).
	ErrInterrupted = errors.New("interrupted")
	// ErrDeadline means that the run's own deadline stopped it in order
	// (exit 3).
	ErrDeadline = errors.New("deadline reached")
	// ErrLocked means that another process writes this run (exit 2).
	ErrLocked = errors.New("run is in use")
	// ErrMismatch means that a run can't be resumed because plan, corpus, arm
	// or code is another one than it was started with (exit 6).
	ErrMismatch = errors.New("run was started with something else")
	// ErrFolder means that the runs folder or the state folder can't be
	// written (exit 5).
	ErrFolder = errors.New("folder can't be written")
	// ErrRun means that a folder holds no usable run (exit 2).
	ErrRun = errors.New("no usable run")
)

// Config is everything that a run needs.
type Config struct {
	Plan *benchmarks.Plan
	// Targets answer, by arm name; every arm of the plan has one.
	Targets map[string]Target
	// HostOf names the host that an arm's calls go to, so that each host has
	// its own bound (H-015). Nil: all arms share one.
	HostOf func(arm string) string

	Runs     string // folder that holds the runs
	StateDir string // folder of the looks ledger
	Threads  int    // num_thread that bare model tags were resolved with

	Code        Code
	Host        journal.Host
	Exploratory []string
	Tags        map[string]string

	// Deadline ends the run in order that long after Began; 0 = none.
	Deadline time.Duration
	// Began is when the caller began to prepare the run; zero: now.
	Began time.Time
	// Abort, when closed, gives up on the calls in flight as well.
	Abort <-chan struct{}

	Progress progress.Reporter // nil: none
	Now      func() time.Time  // nil: time.Now
	ShortID  func() string     // nil: random
	// Open opens the run's stream files; nil: the real file system.
	Open journal.OpenFunc
}

// Summary is what became of a run.
type Summary struct {
	ID       string               `json:"id"`
	Dir      string               `json:"dir"`
	Planned  int                  `json:"planned"`
	Finished int                  `json:"finished"` // earlier sessions included
	Asked    int                  `json:"asked"`    // in this session
	Counts   map[journal.Kind]int `json:"counts"`
	// Stopped is "" for a complete run, else as Interrupt.Why.
	Stopped     string        `json:"stopped,omitempty"`
	Invalid     []string      `json:"invalid,omitempty"` // why the run is invalid
	Exploratory []string      `json:"exploratory,omitempty"`
	Elapsed     time.Duration `json:"elapsed"` // of this session
}

// grace is how long a target may outstay its time-out before it is given up.
const grace = 5 * time.Second

// lastLook bounds the reading of the routes after a deadline.
const lastLook = 10 * time.Second

// warmLimit bounds one arm's warm-up: the five minutes that Ollama itself gives
// a model to load, and some calls.
func (c *Config) warmLimit() time.Duration {
	return min(5*time.Minute+10*c.Plan.Suite.CallTimeout, 15*time.Minute)
}

func (c *Config) fill() error {
	if c.Plan == nil {
		return errors.New("runner: no plan")
	}
	for _, a := range c.Plan.Arms {
		if c.Targets[a.Name] == nil {
			return fmt.Errorf("runner: no target for arm %s", a.Name)
		}
	}
	if c.HostOf == nil {
		c.HostOf = func(string) string { return "" }
	}
	if c.Progress == nil {
		c.Progress = progress.Discard()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Began.IsZero() {
		c.Began = c.Now()
	}
	if c.ShortID == nil {
		c.ShortID = func() string {
			var b [3]byte
			rand.Read(b[:])
			return hex.EncodeToString(b[:])
		}
	}
	return nil
}

// timeLeft is what the deadline leaves.
func (c *Config) timeLeft() time.Duration { return c.Deadline - c.Now().Sub(c.Began) }

// infraLimit is how many trials in a row may find no server before the run
// stops: three, and one more for each call that may fail at the same moment.
func (c *Config) infraLimit() int { return 2 + max(c.Plan.Suite.InFlight, 1) }
