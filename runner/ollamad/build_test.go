package ollamad

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/runner/progress"
)

// fakeGo builds what it is asked for and keeps its environment.
const fakeGo = `
case "$1" in
mod) echo '{"Dir":"'$FAKE_MODULE'"}' ;;
build)
	env >"$FAKE_SEEN"; pwd >>"$FAKE_SEEN"; ls >>"$FAKE_SEEN"
	while [ "$1" != -o ]; do shift; done
	case "$2" in
	*/) for p in convert tinygguf; do echo x >"$2$p"; chmod +x "$2$p"; done ;;
	*) echo x >"$2"; chmod +x "$2" ;;
	esac ;;
esac`

func TestBuildTools(t *testing.T) {
	bin, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
	script(t, bin, "go", fakeGo)
	cfg := testConfig(t, bin)
	cfg.Env["FAKE_SEEN"] = seen
	// Settings of the user that would break or change the build.
	cfg.Env["GOFLAGS"], cfg.Env["GOWORK"], cfg.Env["CGO_CFLAGS"], cfg.Env["GOOS"] = "-mod=vendor", "/x/go.work", "-O0", "plan9"
	// Settings of the user that the build needs.
	cfg.Env["GOPROXY"], cfg.Env["GOMODCACHE"] = "https://proxy.example", "/cache"
	// A relative cache folder (ASSAY_CACHE=cache) must not end up in the sources.
	t.Chdir(t.TempDir())
	cfg.CacheDir = "cache"
	cfg = cfg.withDefaults()
	dir, err := toolsTarget().ensure(t.Context(), cfg, progress.Discard())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "convert")); err != nil {
		t.Error(err)
	}
	data, _ := os.ReadFile(seen)
	for _, want := range []string{"GOFLAGS=-mod=readonly\n", "GOWORK=off\n", "GOPROXY=https://proxy.example\n", "GOMODCACHE=/cache\n", "CGO_ENABLED=0\n", "go.mod\n", "go.sum\n", "convert\n"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the build lacks %q", want)
		}
	}
	if strings.Contains(string(data), "plan9") || strings.Contains(string(data), "-O0") {
		t.Error("the user's target or flags reach the build")
	}
}

func TestBuildServerHeaders(t *testing.T) {
	bin, module := t.TempDir(), t.TempDir()
	for _, name := range []string{"gcc", "g++"} {
		script(t, bin, name, "")
	}
	script(t, bin, "go", fakeGo)
	cfg := testConfig(t, bin)
	cfg.Env["FAKE_MODULE"] = module
	ensure := func() error {
		_, err := serverTarget(cfg).ensure(t.Context(), cfg, progress.Discard())
		return err
	}
	if err := ensure(); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "a header is missing from github.com/ollama/ollama@v0.9.0") {
		t.Error(err)
	}
	if err := writeFile(filepath.Join(module, headers[0].file), []byte("evil")); err != nil {
		t.Fatal(err)
	}
	if err := ensure(); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "other content than pinned") {
		t.Error(err)
	}
	if _, ok := serverTarget(cfg).cached(cfg); ok {
		t.Error("cached all the same")
	}
}

func TestBuildFailures(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"network", `echo 'go: github.com/x/y@v1: Get "https://p/x": dial tcp: lookup p: no such host' >&2; exit 1`, "set GOPROXY"},
		{"disk", `echo 'write /tmp/x: no space left on device' >&2; exit 1`, "free some disk space"},
		{"memory", `echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; echo 'signal: killed'; exit 1`, "run out of memory"},
		{"compiler", `echo 'x.cpp:1: error: boom' >&2; exit 1`, "x.cpp:1: error: boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin := t.TempDir()
			script(t, bin, "go", c.script)
			cfg := testConfig(t, bin)
			_, err := toolsTarget().ensure(t.Context(), cfg, progress.Discard())
			if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %v, want one line with %q", err, c.want)
			}
			log := regexp.MustCompile(`the whole output is in (\S+)$`).FindStringSubmatch(err.Error())
			if log == nil {
				t.Fatalf("no log named: %v", err)
			}
			if data, err := os.ReadFile(log[1]); err != nil || len(data) == 0 {
				t.Errorf("log %q, %v", data, err)
			}
			if _, ok := toolsTarget().cached(cfg); ok {
				t.Error("cached all the same")
			}
		})
	}
}

func TestBuildMissingTools(t *testing.T) {
	cfg := testConfig(t, t.TempDir())
	cfg.Env["PATH"] = t.TempDir()
	_, err := Ensure(t.Context(), cfg, progress.Discard())
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want one for each missing program: %v", len(lines), err)
	}
	for i, name := range []string{"go", "gcc", "g++"} {
		if !strings.HasPrefix(lines[i], name+" is missing, needed for building ollama; install ") {
			t.Errorf("line %q", lines[i])
		}
	}
}

func TestBuildCancelled(t *testing.T) {
	bin := t.TempDir()
	script(t, bin, "go", "sleep 1000 & sleep 1000")
	cfg := testConfig(t, bin)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := toolsTarget().ensure(ctx, cfg, progress.Discard())
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
	if took := time.Since(began); took > gracePeriod {
		t.Errorf("took %v to stop", took)
	}
}

func TestCFlags(t *testing.T) {
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "cpuinfo")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("skipped: other machines use the compiler's default")
	}
	for text, want := range map[string]string{
		"flags\t\t: fpu avx avx2 fma f16c bmi1 bmi2\n": "-O2 -mavx -mavx2 -mfma -mf16c -mbmi -mbmi2",
		"flags\t\t: fpu avx avx2 f16c bmi1 bmi2\n":     "-O2",
		"flags\t\t: fpu sse2\n":                        "-O2",
		"":                                             "-O2",
	} {
		if got := cFlags(write(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := cFlags("/no/such/file"); got != "-O2" {
		t.Error(got)
	}
}

// The nested module is pinned to the version this package names.
func TestNestedPinned(t *testing.T) {
	mod, err := nested.ReadFile("_nested/go.mod.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "github.com/ollama/ollama v"+Version+"\n") {
		t.Error("go.mod.txt and Version disagree")
	}
	sum, err := nested.ReadFile("_nested/go.sum.txt")
	if err != nil || !strings.Contains(string(sum), "github.com/ollama/ollama v"+Version+" h1:") {
		t.Error("go.sum.txt and Version disagree", err)
	}
}
