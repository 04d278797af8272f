// Package ollamad owns the Ollama server a run talks to: finding one, building
// one where none is installed, starting it so that it cannot outlive assay, and
// putting pinned models on it.
//
// It refuses to ask a model anything that counts (package route does), to
// choose a route, and to score. It never replaces a server the user named by
// another one, and it never leaves a half-written file where a finished one is
// expected. Ollama's own Go packages stay in a nested module (_nested) that is
// compiled on the user's machine; only its API client is a dependency here.
package ollamad

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
)

// Version is the Ollama release that is built where none is installed.
const Version = "0.17.4"

// ErrUnavailable is matched (errors.Is) by every failure of the infrastructure:
// no server, no way to get one, no weights. Such a failure is never a wrong
// answer of a model; it exits with code 5.
var ErrUnavailable = errors.New("ollama is unavailable")

// Error is a failure that a person can act on. Its text is one line.
type Error struct {
	What  string // what does not work
	Where string // the address, file or program concerned; may be empty
	Do    string // what to do about it
	Err   error  // the cause; may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.What)
	if e.Where != "" {
		b.WriteString(": " + e.Where)
	}
	if e.Err != nil {
		b.WriteString(": " + strings.Join(strings.Fields(e.Err.Error()), " "))
	}
	if e.Do != "" {
		b.WriteString("; " + e.Do)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports that every Error is a case of ErrUnavailable.
func (e *Error) Is(target error) bool { return target == ErrUnavailable }

// Config is everything this package takes from the outside.
type Config struct {
	// URL is the server the user named (--ollama); empty if none.
	URL string
	// Env is the process environment. OLLAMA_HOST and PATH are read from it, and
	// it is what started programs inherit.
	Env map[string]string
	// CacheDir holds builds, weights, models and logs (see DefaultCacheDir).
	CacheDir string
	// Executable is the assay binary, started again as the supervisor.
	Executable string
	// SuperviseArgs precede the supervisor's own arguments; nil means
	// {"__supervise"}.
	SuperviseArgs []string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// HTTP is used for every request; nil means a client without a time-out,
	// because a call's time-out is its context's.
	HTTP *http.Client
	// DefaultURL is tried where the user names no server; empty means Ollama's
	// own default, "-" means not to try.
	DefaultURL string
	// NumParallel is the number of calls a started server answers at once per
	// model (OLLAMA_NUM_PARALLEL); 0 means 1.
	NumParallel int
	// MaxLoadedModels is how many models a started server keeps in memory;
	// 0 means 3, enough for a generator, a ranker and a control.
	MaxLoadedModels int
	// KeepAlive is how long an idle model stays loaded; 0 means 30 minutes.
	KeepAlive time.Duration
	// ReadyTimeout bounds the start of a server; 0 means one minute.
	ReadyTimeout time.Duration
}

// DefaultCacheDir is the cache folder for an environment: ASSAY_CACHE, else
// "assay" in the user's cache folder (as os.UserCacheDir reports it).
func DefaultCacheDir(getenv func(string) string, userCacheDir string) string {
	if dir := getenv("ASSAY_CACHE"); dir != "" {
		return dir
	}
	return filepath.Join(userCacheDir, "assay")
}

const officialURL = "http://127.0.0.1:11434"

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	// Programs run in folders of their own.
	if abs, err := filepath.Abs(c.CacheDir); err == nil && c.CacheDir != "" {
		c.CacheDir = abs
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Transport: &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 64}}
	}
	if c.SuperviseArgs == nil {
		c.SuperviseArgs = []string{"__supervise"}
	}
	if c.DefaultURL == "" {
		c.DefaultURL = officialURL
	}
	if c.NumParallel <= 0 {
		c.NumParallel = 1
	}
	if c.MaxLoadedModels <= 0 {
		c.MaxLoadedModels = 3
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = 30 * time.Minute
	}
	if c.ReadyTimeout <= 0 {
		c.ReadyTimeout = time.Minute
	}
	return c
}

func (c Config) path(parts ...string) string {
	return filepath.Join(append([]string{c.CacheDir}, parts...)...)
}

// environ returns the inherited environment without the variables that drop
// names, and with the given ones set, sorted.
func (c Config) environ(drop func(name string) bool, set map[string]string) []string {
	var all []string
	for name, value := range c.Env {
		if _, replaced := set[name]; !replaced && !drop(name) {
			all = append(all, name+"="+value)
		}
	}
	for name, value := range set {
		all = append(all, name+"="+value)
	}
	sort.Strings(all)
	return all
}

// Origin says where a server comes from.
type Origin string

const (
	Explicit  Origin = "explicit"  // named by --ollama or OLLAMA_HOST
	Default   Origin = "default"   // already running at Ollama's own address
	Installed Origin = "installed" // the ollama on PATH, started by us
	Cached    Origin = "cached"    // an earlier build, started by us
	Built     Origin = "built"     // built just now, started by us
)

// Server is an Ollama server that answers.
type Server struct {
	URL     string // base address, without a trailing slash
	Version string // as the server reports it (part of a route, H-004)
	Origin  Origin
	Binary  string // program file; empty for a server that was already running
	LogPath string // its output; empty for a server that was already running
	PID     int    // process and process group; 0 for one already running

	cfg  Config
	proc *process // nil for a server that was already running
}

// Client returns a client for the server's API.
func (s *Server) Client() *api.Client {
	u, err := url.Parse(s.URL)
	if err != nil {
		u = &url.URL{Scheme: "http", Host: "127.0.0.1:0"} // not reachable: URL was parsed before
	}
	return api.NewClient(u, s.cfg.HTTP)
}

// Done is closed when a server that was started here has ended. It is nil, and
// so never ready, for a server that was already running.
func (s *Server) Done() <-chan struct{} {
	if s.proc == nil {
		return nil
	}
	return s.proc.done
}

// Close ends a server that was started here, with its runner processes, and
// waits for that as long as ctx allows. Other servers are left alone. It may be
// called more than once.
func (s *Server) Close(ctx context.Context) error {
	if s.proc == nil {
		return nil
	}
	s.proc.release()
	select {
	case <-s.proc.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the ollama server to end: %w", ctx.Err())
	}
}
