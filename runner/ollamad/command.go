//go:build unix

package ollamad

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// run is runCommand under the supervisor, so that a build or download that takes
// minutes ends with assay, also after kill -9, and cannot write into the folder
// of the attempt that follows it.
func (c Config) run(ctx context.Context, dir string, env []string, log io.Writer, onLine func(string), name string, args ...string) error {
	if c.Executable == "" {
		return runCommand(ctx, dir, env, log, onLine, name, args...)
	}
	hold, stdin, err := pipe()
	if err != nil {
		return err
	}
	defer hold.Close()
	defer stdin.Close()
	command := exec.CommandContext(ctx, c.Executable, append(append(append([]string{}, c.SuperviseArgs...), "-", name), args...)...)
	command.Stdin = stdin
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Cancel = hold.Close
	command.WaitDelay = 2 * gracePeriod
	return finish(ctx, command, dir, env, log, onLine, name, args)
}

// runCommand runs a program to its end, both outputs into log and, line by line,
// into onLine. When ctx ends, the program and its children are killed. The error
// carries the last lines.
func runCommand(ctx context.Context, dir string, env []string, log io.Writer, onLine func(string), name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	// Children that hold the output open must not hold us.
	command.WaitDelay = gracePeriod
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	return finish(ctx, command, dir, env, log, onLine, name, args)
}

// finish runs a prepared command that stands for name and args.
func finish(ctx context.Context, command *exec.Cmd, dir string, env []string, log io.Writer, onLine func(string), name string, args []string) error {
	command.Dir, command.Env = dir, env
	lines := &lineWriter{log: log, onLine: onLine}
	command.Stdout, command.Stderr = lines, lines
	fmt.Fprintf(log, "$ %s %s\n", filepath.Base(name), strings.Join(args, " "))
	err := command.Run()
	lines.flush()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return &commandError{program: filepath.Base(name), tail: lines.tail, err: err}
	}
}

// commandError is a program that failed, with the end of what it said.
type commandError struct {
	program string
	tail    []string
	err     error
}

func (e *commandError) Error() string {
	if len(e.tail) == 0 {
		return fmt.Sprintf("%s: %v", e.program, e.err)
	}
	return fmt.Sprintf("%s: %v: %s", e.program, e.err, strings.Join(e.tail, " | "))
}

func (e *commandError) Unwrap() error { return e.err }

// tailLines is how much of a failed program's output goes into its error.
const tailLines = 4

type lineWriter struct {
	log    io.Writer
	onLine func(string)

	mu   sync.Mutex
	rest []byte
	tail []string
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.log.Write(p) // a full disk must not look like a failed program
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		w.line(string(w.rest[:i]))
		w.rest = w.rest[i+1:]
	}
}

func (w *lineWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.line(string(w.rest))
		w.rest = nil
	}
}

func (w *lineWriter) line(text string) {
	if w.onLine != nil {
		w.onLine(text)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	w.tail = append(w.tail, text)
	if len(w.tail) > tailLines {
		w.tail = w.tail[1:]
	}
}

// advice adds what usually helps against what a program's output points at;
// network is the advice for an unreachable registry.
func advice(err error, network string) string {
	if err == nil {
		return ""
	}
	text := strings.ToLower(err.Error())
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("no space left on device", "disk quota exceeded"):
		return "free some disk space (ASSAY_CACHE, GOCACHE and GOMODCACHE say where) and run it again; "
	case has("dial tcp", "no such host", "connection refused", "i/o timeout", "tls handshake", "proxyconnect", "temporary failure in name resolution",
		"no matching distribution", "could not find a version", "connection broken", "network is unreachable", "403 forbidden", "404 not found", "module lookup disabled"):
		return network + "; "
	case has("signal: killed"):
		return "it may have run out of memory; "
	}
	return ""
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// freeSpace returns the bytes an unprivileged user may still write below dir.
func freeSpace(dir string) (uint64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, err
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize), nil
}

func enoughSpace(dir string, need uint64, purpose string) error {
	free, err := freeSpace(dir)
	if err != nil || free >= need {
		return nil // unknown is left to the writes themselves
	}
	return &Error{
		What: fmt.Sprintf("%s needs %s of disk space and %s are free", purpose, megabytes(need), megabytes(free)), Where: dir,
		Do: "free some space, or choose another disk with ASSAY_CACHE=DIR",
	}
}

func megabytes(n uint64) string {
	if n < 10_000_000 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d MB", (n+500_000)/1_000_000)
}

// writeFile writes a whole file or none, creating its folder.
func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(name, data, 0o644)
}

func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// pollEvery is how often the size of a growing file is looked at.
const pollEvery = 200 * time.Millisecond
