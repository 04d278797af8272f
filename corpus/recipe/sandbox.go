package recipe

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// libSH is the bash library that every run.sh sources.
//
//go:embed lib.sh
var libSH []byte

// RunTimeout bounds one run of a recipe, set-up and all.
const RunTimeout = 5 * time.Minute

// ErrUnavailable means that this machine can't isolate a recipe: recording
// needs Linux namespaces (unshare) and ip.
var ErrUnavailable = errors.New("recipes can't run here")

// toolPath is searched after PATH, where services hide from ordinary users.
func toolPath() string {
	dirs := []string{os.Getenv("PATH"), "/usr/local/sbin", "/usr/sbin", "/sbin"}
	pg, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	sort.Sort(sort.Reverse(sort.StringSlice(pg)))
	return strings.Join(append(dirs, pg...), ":")
}

// missing lists the needed executables that are not here.
func missing(needs []string) []string {
	var out []string
	for _, tool := range needs {
		found := false
		for _, dir := range filepath.SplitList(toolPath()) {
			if st, err := os.Stat(filepath.Join(dir, tool)); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
				found = true
				break
			}
		}
		if !found {
			out = append(out, tool)
		}
	}
	return out
}

// isolate is the command line that runs a script in namespaces of its own: no
// network but loopback, host name build-host, own mounts and processes, all of
// which end with the script.
func isolate(ctx context.Context) ([]string, error) {
	for _, tool := range []string{"unshare", "ip", "bash", "timeout", "setpriv"} {
		if len(missing([]string{tool})) > 0 {
			return nil, fmt.Errorf("%w: %s is missing; install util-linux, iproute2, bash and coreutils", ErrUnavailable, tool)
		}
	}
	args := []string{"unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if os.Geteuid() != 0 {
		args = append(args, "--user", "--map-root-user")
	}
	args = append(args, "bash", "-c", `ip link set lo up && echo build-host >/proc/sys/kernel/hostname && exec bash "$@"`, "run")
	probe := command(ctx, append(append([]string{}, args...), "-c", "true"))
	if out, err := probe.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, strings.TrimSpace(string(out)))
	}
	return args, nil
}

func command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = []string{"PATH=" + toolPath()}
	if p, err := lookPath(args[0]); err == nil {
		cmd.Path, cmd.Err = p, nil
	}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func lookPath(tool string) (string, error) {
	for _, dir := range filepath.SplitList(toolPath()) {
		p := filepath.Join(dir, tool)
		if st, err := os.Stat(p); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", exec.ErrNotFound
}

// execute runs one recipe and gives its evidence files by name, normalised.
func execute(ctx context.Context, isolation []string, recipeDir string, r run) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, RunTimeout)
	defer cancel()
	base, err := os.MkdirTemp("", "rec-")
	if err != nil {
		return nil, fmt.Errorf("make working folder: %w", err)
	}
	defer os.RemoveAll(base)
	work, out, lib := filepath.Join(base, "work"), filepath.Join(base, "out"), filepath.Join(base, "lib.sh")
	home := filepath.Join(work, "home")
	for _, dir := range []string{work, out, home} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, fmt.Errorf("make working folder: %w", err)
		}
	}
	if err := os.Chmod(base, 0o755); err != nil {
		return nil, fmt.Errorf("make working folder: %w", err)
	}
	if err := os.WriteFile(lib, libSH, 0o644); err != nil {
		return nil, fmt.Errorf("write lib.sh: %w", err)
	}
	src, err := filepath.Abs(recipeDir)
	if err != nil {
		return nil, fmt.Errorf("find recipe: %w", err)
	}
	cmd := command(ctx, append(append([]string{}, isolation...), filepath.Join(src, "run.sh")))
	cmd.Dir = work
	cmd.Env = append(cmd.Env, "WORK="+work, "OUT="+out, "LIB="+lib, "RECIPE="+src, "VARIANT="+r.variant,
		"HOME="+home, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb", "NO_COLOR=1", "GOPROXY=off", "GOTOOLCHAIN=local",
		"TMPDIR="+filepath.Join(work, ".tmp"))
	cmd.Env = append(cmd.Env, toolHomes()...)
	if err := os.Mkdir(filepath.Join(work, ".tmp"), 0o777); err != nil {
		return nil, fmt.Errorf("make working folder: %w", err)
	}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run.sh: %w; it said: %s", err, lastLines(log.String(), 8))
	}
	return collect(out, normaliser(work, src), r)
}

// toolHomes lets version managers find themselves though HOME is another.
func toolHomes() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	var env []string
	for name, sub := range map[string]string{"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		} else if _, err := os.Stat(filepath.Join(home, sub)); err == nil {
			env = append(env, name+"="+filepath.Join(home, sub))
		}
	}
	if cache, err := os.UserCacheDir(); err == nil { // else each Go recipe compiles the standard library
		env = append(env, "GOCACHE="+filepath.Join(cache, "go-build"))
	}
	sort.Strings(env)
	return env
}

// neutralKernel stands for the recording machine's kernel release.
const neutralKernel = "6.1.0-amd64"

// normaliser makes the replacements that the package comment lists.
func normaliser(work, recipeDir string) *strings.Replacer {
	pairs := []string{work, "/workspace"}
	if real, err := filepath.EvalSymlinks(work); err == nil && real != work {
		pairs = append(pairs, real, "/workspace")
	}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		pairs = append(pairs, home+"/", "/home/builder/")
	}
	if u, err := user.Current(); err == nil && u.Username != "root" && len(u.Username) > 2 {
		pairs = append(pairs, u.Username, "builder")
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil && len(release) > 4 {
		pairs = append(pairs, strings.TrimSpace(string(release)), neutralKernel)
	}
	return strings.NewReplacer(append(pairs, "\x00", "\uFFFD")...)
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
