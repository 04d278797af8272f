package ollamad

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// supervised starts `sh -c script` under the supervisor and returns the pid and
// the folder it runs for.
func supervised(t *testing.T, script string) (*process, string) {
	t.Helper()
	dir := t.TempDir()
	cfg := testConfig(t, t.TempDir())
	env := cfg.environ(func(string) bool { return false }, map[string]string{"DIR": dir})
	proc, err := supervise(cfg, env, filepath.Join(dir, "log"), "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { proc.release(); <-proc.done })
	return proc, dir
}

// pidIn waits for a file with a process id.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	for range 500 {
		data, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no process id in %s", file)
	return 0
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func waitDone(t *testing.T, p *process, within time.Duration) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(within):
		t.Fatalf("the supervisor is still there after %v", within)
	}
}

func TestSuperviseEndsGrandchildren(t *testing.T) {
	// One grandchild stays in the group, one leaves it for a session of its own.
	proc, dir := supervised(t, `
		sh -c 'echo $$ >$DIR/in; exec sleep 1000' &
		if command -v setsid >/dev/null; then setsid sh -c 'echo $$ >$DIR/out; exec sleep 1000' & else sh -c 'echo $$ >$DIR/out; exec sleep 1000' & fi
		wait`)
	pids := []int{proc.pid, pidIn(t, filepath.Join(dir, "in")), pidIn(t, filepath.Join(dir, "out"))}
	for _, pid := range pids {
		if !alive(pid) {
			t.Fatalf("process %d does not run", pid)
		}
	}
	proc.release()
	waitDone(t, proc, 2*gracePeriod)
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d outlived its supervisor", pid)
		}
	}
}

func TestSuperviseStubborn(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped in short mode: waits for the grace period")
	}
	proc, dir := supervised(t, `trap '' TERM; echo $$ >$DIR/pid; while :; do sleep 1; done`)
	pid := pidIn(t, filepath.Join(dir, "pid"))
	proc.release()
	waitDone(t, proc, 2*gracePeriod)
	if alive(pid) {
		t.Error("a process that ignores SIGTERM outlived its supervisor")
	}
}

func TestSuperviseCommandEnds(t *testing.T) {
	proc, dir := supervised(t, `echo said; (echo $$ >$DIR/pid; exec sleep 1000) & exit 3`)
	waitDone(t, proc, 2*gracePeriod)
	if log, _ := os.ReadFile(filepath.Join(dir, "log")); string(log) != "said\n" {
		t.Errorf("log %q", log)
	}
}

func TestSuperviseDoesNotStart(t *testing.T) {
	cfg := testConfig(t, t.TempDir())
	if _, err := supervise(cfg, nil, filepath.Join(t.TempDir(), "log"), "/no/such/program"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
	if _, err := supervise(cfg, nil, filepath.Join(t.TempDir(), "no", "log"), "/bin/true"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
	cfg.Executable = "/no/such/assay"
	if _, err := supervise(cfg, nil, "log", "/bin/true"); err == nil {
		t.Error("an executable that is not there started")
	}
	var out bytes.Buffer
	if code := SuperviseMain([]string{"log"}, io.LimitReader(nil, 0), &out); code != 2 || !strings.HasPrefix(out.String(), "failed usage") {
		t.Errorf("code %d, %q", code, out.String())
	}
}

// With "-" the supervisor is transparent: output and exit code are the command's.
func TestSuperviseTransparent(t *testing.T) {
	cfg := testConfig(t, t.TempDir())
	var lines []string
	keep := func(line string) { lines = append(lines, line) }
	run := func(script string) error {
		lines = nil
		return cfg.run(t.Context(), t.TempDir(), cfg.environ(func(string) bool { return false }, nil), io.Discard, keep, "/bin/sh", "-c", script)
	}
	if err := run("echo a; echo b >&2"); err != nil || strings.Join(lines, ",") != "a,b" {
		t.Errorf("%q, %v", lines, err)
	}
	if err := run("echo why; exit 7"); err == nil || err.Error() != "sh: exit status 7: why" {
		t.Error(err)
	}
	if err := run("kill -9 $$"); err == nil {
		t.Error("a killed command succeeded")
	}
	missing := cfg.run(t.Context(), t.TempDir(), nil, io.Discard, nil, "/no/such/program")
	if missing == nil || !strings.Contains(missing.Error(), "no such file") {
		t.Error(missing)
	}
}

// H-014: a supervisor that is killed itself leaves nothing behind either,
// and it has a name of its own, so that who kills assay by name leaves it alive
// to end the rest.
func TestSuperviseKilled(t *testing.T) {
	proc, dir := supervised(t, `sh -c 'echo $$ >$DIR/in; exec sleep 1000' & wait`)
	child := pidIn(t, filepath.Join(dir, "in"))
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(proc.pid), "stat"))
	if err != nil {
		t.Skip("no /proc here")
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	supervisor, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	if comm, _ := os.ReadFile(filepath.Join("/proc", fields[1], "comm")); string(comm) != "keep-sh\n" {
		t.Errorf("the supervisor is called %q", comm)
	}
	if err := syscall.Kill(supervisor, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitDone(t, proc, gracePeriod)
	for range 200 {
		if !alive(child) || zombie(child) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d outlived its supervisor", child)
}

// zombie reports a process that has ended and that nobody has waited for.
func zombie(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.HasPrefix(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " Z")
}
