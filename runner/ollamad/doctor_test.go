package ollamad

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func find1(t *testing.T, checks []Check, name string) Check {
	t.Helper()
	for _, check := range checks {
		if check.Name == name {
			if check.Status == OK && check.Fix != "" || strings.Contains(check.Detail+check.Fix, "\n") {
				t.Errorf("%+v", check)
			}
			return check
		}
	}
	t.Fatalf("no check %q in %+v", name, checks)
	return Check{}
}

func tool(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		script(t, dir, name, "echo "+name+" 1.0")
	}
}

func TestDoctorBareMachine(t *testing.T) {
	cfg := testConfig(t, t.TempDir())
	cfg.Env["PATH"] = t.TempDir()
	checks := Doctor(t.Context(), cfg)
	if Healthy(checks) {
		t.Error("healthy with nothing installed")
	}
	for _, name := range []string{"go", "gcc", "g++", "python3"} {
		if c := find1(t, checks, name); c.Status != Missing || c.Fix != fixes[name] {
			t.Errorf("%+v", c)
		}
	}
	for _, name := range []string{"make", "git", "ollama server", "model smollm2"} {
		if c := find1(t, checks, name); c.Status != Optional {
			t.Errorf("%+v", c)
		}
	}
}

func TestDoctorCanBuild(t *testing.T) {
	bin := t.TempDir()
	tool(t, bin, "go", "gcc", "g++", "python3", "make", "git")
	cfg := testConfig(t, bin)
	cfg.Env["PATH"] = bin
	checks := Doctor(t.Context(), cfg)
	if free, _ := freeSpace(cfg.CacheDir); free < wantedSpace {
		t.Skip("skipped: this machine lacks the disk space that doctor asks for")
	}
	if !Healthy(checks) {
		t.Errorf("%+v", checks)
	}
	if c := find1(t, checks, "g++"); c.Detail != "g++ 1.0" {
		t.Errorf("%+v", c)
	}
	if c := find1(t, checks, "ollama server"); c.Status != Optional || !strings.Contains(c.Fix, "built when needed") {
		t.Errorf("%+v", c)
	}
}

// With a server and all models there, no tool is needed.
func TestDoctorRunningServer(t *testing.T) {
	f := newFake()
	for _, e := range catalogue {
		f.models[e.tag] = fakeModel{"sha256-" + e.gguf, e.template, e.base()}
	}
	alive := httptest.NewServer(f)
	defer alive.Close()
	cfg := testConfig(t, t.TempDir())
	cfg.Env["PATH"], cfg.URL = t.TempDir(), alive.URL
	checks := Doctor(t.Context(), cfg)
	if !Healthy(checks) {
		t.Errorf("%+v", checks)
	}
	if c := find1(t, checks, "ollama server"); c.Detail != "0.0.1 answers at "+alive.URL+" (explicit)" {
		t.Errorf("%+v", c)
	}
	if c := find1(t, checks, "model minilm"); c.Status != OK {
		t.Errorf("%+v", c)
	}

	alive.Close()
	checks = Doctor(t.Context(), cfg)
	if c := find1(t, checks, "ollama server"); c.Status != Missing || !strings.Contains(c.Fix, "ollama serve") || Healthy(checks) {
		t.Errorf("%+v", c)
	}
}

// What lies in the cache is found without starting anything.
func TestDoctorCached(t *testing.T) {
	bin := t.TempDir()
	script(t, bin, "ollama", "exit 9")
	cfg := testConfig(t, bin)
	cfg.Env["PATH"] = bin
	for i := range catalogue {
		e := &catalogue[i]
		name, version, _ := strings.Cut(e.tag, ":")
		if err := writeFile(cfg.path("models", "manifests", "registry.ollama.ai", "library", name, version), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	checks := Doctor(t.Context(), cfg)
	if !Healthy(checks) {
		t.Errorf("%+v", checks)
	}
	if c := find1(t, checks, "ollama server"); !strings.HasPrefix(c.Detail, "installed") {
		t.Errorf("%+v", c)
	}
}

func TestDoctorUnwritableCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := testConfig(t, t.TempDir())
	cfg.CacheDir = filepath.Join(file, "x")
	checks := Doctor(context.Background(), cfg)
	if c := find1(t, checks, "cache folder"); c.Status != Missing || !strings.Contains(c.Fix, "ASSAY_CACHE") || Healthy(checks) {
		t.Errorf("%+v", c)
	}
}

func TestAvailableMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "meminfo")
	if err := os.WriteFile(file, []byte("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, ok := availableMemory(file); n != 2<<20 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
	if _, ok := availableMemory("/no/such/file"); ok {
		t.Error("known without a file")
	}
}
