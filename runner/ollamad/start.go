//go:build unix

package ollamad

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fabriccore/assay/runner/progress"
)

// process is a supervised server.
type process struct {
	pid  int           // of the server, which leads its process group
	done chan struct{} // closed when the supervisor has ended, and so the group

	once sync.Once
	hold io.Closer // our end of the pipe that keeps the server alive
}

// release lets the supervisor end the server.
func (p *process) release() { p.once.Do(func() { p.hold.Close() }) }

// keptLogs is how many server logs stay in the cache.
const keptLogs = 20

// start runs a server on a free loopback port and waits until it answers.
func start(ctx context.Context, cfg Config, binary string, origin Origin, report progress.Reporter) (*Server, error) {
	task := report.Start("starting ollama", 0, progress.Steps)
	server, err := startOnce(ctx, cfg, binary, origin)
	// Another program may have taken the port between choosing and using it.
	for retry := 0; retry < 2 && errors.Is(err, errPortTaken); retry++ {
		server, err = startOnce(ctx, cfg, binary, origin)
	}
	task.Done(err)
	return server, err
}

var errPortTaken = errors.New("the port was taken")

func startOnce(ctx context.Context, cfg Config, binary string, origin Origin) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, &Error{What: "no free loopback port", Err: err, Do: "close programs that hold ports, or name a running server with --ollama URL"}
	}
	log, err := newLog(cfg, "ollama")
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"models", "home"} {
		if err := os.MkdirAll(cfg.path(dir), 0o755); err != nil {
			return nil, &Error{What: "the cache folder cannot be written", Where: cfg.path(dir), Err: bareError(err), Do: "free or unlock it, or choose another one with ASSAY_CACHE=DIR"}
		}
	}
	proc, err := supervise(cfg, serverEnv(cfg, port), log, binary, "serve")
	if err != nil {
		return nil, &Error{What: "the ollama server did not start", Where: binary, Err: err, Do: "see " + log}
	}
	server := &Server{
		URL: "http://127.0.0.1:" + strconv.Itoa(port), Origin: origin, Binary: binary,
		LogPath: log, PID: proc.pid, cfg: cfg, proc: proc,
	}
	server.Version, err = waitReady(ctx, server)
	if err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*gracePeriod)
		defer cancel()
		server.Close(closing)
		return nil, err
	}
	return server, nil
}

// waitReady polls until the server answers, has ended, or the time is up.
func waitReady(ctx context.Context, server *Server) (version string, err error) {
	deadline := time.NewTimer(server.cfg.ReadyTimeout)
	defer deadline.Stop()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		if version, err = probe(ctx, server.cfg.HTTP, server.URL, 2*time.Second); err == nil {
			return version, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-server.proc.done:
			tail := lastLines(server.LogPath, 3)
			if strings.Contains(tail, "address already in use") {
				return "", errPortTaken
			}
			return "", &Error{What: "the ollama server ended at once", Where: server.Binary, Err: errors.New(tail), Do: "see " + server.LogPath}
		case <-deadline.C:
			return "", &Error{What: fmt.Sprintf("the ollama server did not answer within %v", server.cfg.ReadyTimeout), Where: server.URL, Do: "see " + server.LogPath}
		case <-time.After(pause):
		}
	}
}

// serverEnv is the environment of a started server: ours, with every setting of
// Ollama that changes what a route is decided here and not inherited (H-004).
func serverEnv(cfg Config, port int) []string {
	// Where Ollama finds its GPU libraries is the machine's business.
	keep := map[string]bool{"OLLAMA_LLM_LIBRARY": true, "OLLAMA_LIBRARY_PATH": true}
	drop := func(name string) bool { return strings.HasPrefix(name, "OLLAMA_") && !keep[name] }
	return cfg.environ(drop, map[string]string{
		"HOME":                     cfg.path("home"),
		"OLLAMA_HOST":              "127.0.0.1:" + strconv.Itoa(port),
		"OLLAMA_MODELS":            cfg.path("models"),
		"OLLAMA_NUM_PARALLEL":      strconv.Itoa(cfg.NumParallel),
		"OLLAMA_MAX_LOADED_MODELS": strconv.Itoa(cfg.MaxLoadedModels),
		"OLLAMA_KEEP_ALIVE":        cfg.KeepAlive.String(),
		// Local-first (F-178): no remote inference, no web search.
		"OLLAMA_NO_CLOUD": "1",
		// Another assay may be between uploading a blob and naming it.
		"OLLAMA_NOPRUNE": "1",
		"GIN_MODE":       "release",
	})
}

// supervise starts the supervisor, which starts the command.
func supervise(cfg Config, env []string, log, name string, args ...string) (*process, error) {
	ours, theirs, err := pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	command := exec.Command(cfg.Executable, append(append(append([]string{}, cfg.SuperviseArgs...), log, name), args...)...)
	command.Env = env
	command.Stdin = theirs
	// A session of its own keeps the terminal's Ctrl-C away from it; assay ends
	// the server in its own order.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	status, err := command.StdoutPipe()
	if err != nil {
		ours.Close()
		return nil, err
	}
	if err := command.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	proc := &process{hold: ours, done: make(chan struct{})}
	line, _ := bufio.NewReader(status).ReadString('\n')
	_, scanErr := fmt.Sscanf(line, "started %d", &proc.pid)
	go func() {
		command.Wait()
		if s, ok := command.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() && proc.pid > 0 {
			// Somebody killed the supervisor, so nobody ended the runners.
			syscall.Kill(-proc.pid, syscall.SIGKILL)
		}
		proc.release()
		close(proc.done)
	}()
	if scanErr != nil {
		proc.release()
		<-proc.done
		return nil, errors.New(strings.TrimPrefix(strings.TrimSpace(line), "failed "))
	}
	return proc, nil
}

func pipe() (write io.Closer, read *os.File, err error) {
	r, w, err := os.Pipe()
	return w, r, err
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// newLog names a new log file of a kind and drops the oldest ones.
func newLog(cfg Config, kind string) (string, error) {
	dir := cfg.path("logs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", &Error{What: "the log folder cannot be written", Where: dir, Err: bareError(err), Do: "free or unlock it, or choose another one with ASSAY_CACHE=DIR"}
	}
	// Names begin with the time, so that their order is their age.
	old, _ := filepath.Glob(filepath.Join(dir, kind+"-*.log"))
	sort.Strings(old)
	for len(old) >= keptLogs {
		os.Remove(old[0])
		old = old[1:]
	}
	f, err := os.CreateTemp(dir, fmt.Sprintf("%s-%s-*.log", kind, cfg.Now().UTC().Format("20060102T150405")))
	if err != nil {
		return "", &Error{What: "the log folder cannot be written", Where: dir, Err: bareError(err), Do: "free or unlock it, or choose another one with ASSAY_CACHE=DIR"}
	}
	return f.Name(), f.Close()
}

// lastLines returns the last n non-empty lines of a file, joined by " | ".
func lastLines(file string, n int) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
