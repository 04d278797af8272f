package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// state is everything of the process that a command may touch. Tests make
// their own; nothing below cmd reads the process.
type state struct {
	Args           []string // without the program's name
	Env            map[string]string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	StdoutIsTTY    bool
	StderrIsTTY    bool
	Width          int // columns of the terminal; 80 where it can't be known
	NoColor        bool
	Now            func() time.Time
	CacheDir       string // builds, weights, models
	StateDir       string // looks ledger, keys
	Executable     string
	// Listen takes the interrupts over until stop; meanwhile the first asks for
	// an orderly stop and the second ends at once. A command that has nothing to
	// keep does not listen, and a signal just ends it. Nil: nobody interrupts.
	Listen func() (signals <-chan os.Signal, stop func())

	flags globalFlags
}

// globalFlags are the flags that every command shares.
type globalFlags struct {
	ollama     string
	runs       string
	format     string
	noProgress bool
}

// Getenv returns an environment variable, "" if unset.
func (s *state) Getenv(name string) string { return s.Env[name] }

// processState reads the process once.
func processState() *state {
	env := map[string]string{}
	for _, kv := range os.Environ() {
		if k, v, ok := strings.Cut(kv, "="); ok {
			env[k] = v
		}
	}
	s := &state{
		Args: os.Args[1:], Env: env,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdoutIsTTY: term.IsTerminal(int(os.Stdout.Fd())),
		StderrIsTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Width:       80,
		Now:         time.Now,
	}
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 {
		s.Width = w
	} else if w, err := strconv.Atoi(env["COLUMNS"]); err == nil && w > 0 {
		s.Width = w
	}
	if env["TERM"] == "dumb" { // it neither colours nor redraws
		s.StdoutIsTTY, s.StderrIsTTY = false, false
	}
	s.NoColor = env["NO_COLOR"] != "" || !s.StdoutIsTTY
	s.CacheDir = env["ASSAY_CACHE"]
	if s.CacheDir == "" {
		if d, err := os.UserCacheDir(); err == nil {
			s.CacheDir = filepath.Join(d, "assay")
		} else {
			s.CacheDir = filepath.Join(os.TempDir(), "assay-cache")
		}
	}
	s.StateDir = env["ASSAY_STATE"]
	if s.StateDir == "" {
		s.StateDir = filepath.Join(s.CacheDir, "state")
		if h, err := os.UserHomeDir(); err == nil {
			s.StateDir = filepath.Join(h, ".local", "state", "assay")
			if x := env["XDG_STATE_HOME"]; x != "" {
				s.StateDir = filepath.Join(x, "assay")
			}
		}
	}
	s.Executable, _ = os.Executable()
	s.Listen = listen
	return s
}

// listen takes interrupts over until stop. A closed terminal is one too, unless
// assay was started to outlive it (nohup); and a reader of the output that goes
// away, as tee does at Ctrl-C, does not end a run.
func listen() (signals <-chan os.Signal, stop func()) {
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(ch, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGPIPE)
	return ch, func() {
		signal.Stop(ch)
		signal.Reset(syscall.SIGPIPE)
	}
}

// codeVersion names the build: commit or module version, "+dirty" if the
// tree was changed.
func codeVersion() string {
	bi, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	rev, dirty := "", false
	for _, kv := range bi.Settings {
		switch kv.Key {
		case "vcs.revision":
			rev = kv.Value
		case "vcs.modified":
			dirty = kv.Value == "true"
		}
	}
	if stamped != "" {
		return stamped
	}
	if rev == "" {
		return bi.Main.Version
	}
	if len(rev) > 12 {
		rev = rev[:12]
	}
	if dirty {
		rev += "+dirty"
	}
	return rev
}

// stamped is set by the Makefile where the toolchain records no commit.
var stamped string

// background is the context of a command that has no run to keep. A second
// interrupt ends the process.
func (s *state) background() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	if s.Listen == nil {
		return ctx, cancel
	}
	signals, stop := s.Listen()
	go func() {
		select {
		case <-signals:
			stop()
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { stop(); cancel() }
}
