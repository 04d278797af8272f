package ollamad

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/runner/progress"
)

func TestParseHost(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:11434":          "http://127.0.0.1:11434",
		"example.com":              "http://example.com:11434",
		":8080":                    "http://127.0.0.1:8080",
		"0.0.0.0":                  "http://127.0.0.1:11434",
		"0.0.0.0:1":                "http://127.0.0.1:1",
		"[::]:5":                   "http://127.0.0.1:5",
		"[::1]:5":                  "http://[::1]:5",
		"http://h":                 "http://h:80",
		"https://h/ollama/":        "https://h:443/ollama",
		` "http://127.0.0.1:99/" `: "http://127.0.0.1:99",
	} {
		if got, err := parseHost(in); got != want || err != nil {
			t.Errorf("parseHost(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"ftp://h", "http://h:port", "http://[::1"} {
		if got, err := parseHost(in); err == nil {
			t.Errorf("parseHost(%q) = %q, want an error", in, got)
		}
	}
}

func FuzzParseHost(f *testing.F) {
	f.Add("0.0.0.0:1")
	f.Fuzz(func(t *testing.T, s string) {
		base, err := parseHost(s)
		if err != nil {
			return
		}
		if _, err := http.NewRequest(http.MethodGet, base+"/api/version", nil); err != nil {
			t.Skip(err) // a host that only the resolver can refuse
		}
	})
}

// A server the user named is used or refused, never replaced.
func TestNamedServer(t *testing.T) {
	bin := t.TempDir()
	script(t, bin, "ollama", "exec "+executable(t)+" __serve") // must not be started
	alive := httptest.NewServer(newFake())
	defer alive.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	dead := httptest.NewServer(newFake())
	dead.Close()

	for _, c := range []struct{ name, flag, env, want, text string }{
		{"flag", alive.URL, "", alive.URL, ""},
		{"environment", "", alive.URL, alive.URL, ""},
		{"flag before environment", alive.URL, dead.URL, alive.URL, ""},
		{"dead flag", dead.URL, alive.URL, "", "given by --ollama: " + dead.URL},
		{"dead environment", "", dead.URL, "", "given by OLLAMA_HOST: " + dead.URL},
		{"something else", other.URL, "", "", "something else than ollama"},
		{"no address", "ftp://x", "", "", "use the form http://HOST:PORT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := testConfig(t, bin)
			cfg.URL, cfg.Env["OLLAMA_HOST"] = c.flag, c.env
			server, err := Ensure(t.Context(), cfg, progress.Discard())
			if c.text == "" {
				if err != nil || server.URL != c.want || server.Origin != Explicit || server.Version != "0.0.1" {
					t.Fatalf("%+v, %v", server, err)
				}
				if server.Done() != nil || server.Close(t.Context()) != nil {
					t.Error("a foreign server is not ours to end")
				}
				return
			}
			if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c.text)
			}
		})
	}
}

func TestDefaultServer(t *testing.T) {
	alive := httptest.NewServer(newFake())
	defer alive.Close()
	cfg := testConfig(t, t.TempDir())
	cfg.DefaultURL = alive.URL
	server, err := Ensure(t.Context(), cfg, progress.Discard())
	if err != nil || server.Origin != Default || server.URL != alive.URL {
		t.Errorf("%+v, %v", server, err)
	}
}

func TestInstalledServer(t *testing.T) {
	bin := t.TempDir()
	script(t, bin, "ollama", "exec "+executable(t)+" __serve")
	cfg := testConfig(t, bin)
	cfg.Env["OLLAMA_NUM_PARALLEL"] = "7" // not ours to inherit
	cfg.Env["KEEP_ME"] = "1"
	server, err := Ensure(t.Context(), cfg, progress.Discard())
	if err != nil {
		t.Fatal(err)
	}
	if server.Origin != Installed || server.PID == 0 || !strings.HasPrefix(server.URL, "http://127.0.0.1:") {
		t.Errorf("%+v", server)
	}
	log, _ := os.ReadFile(server.LogPath)
	for _, want := range []string{
		"env OLLAMA_NUM_PARALLEL=1", "env OLLAMA_MODELS=" + cfg.path("models"), "env HOME=" + cfg.path("home"),
		"env OLLAMA_NO_CLOUD=1", "env OLLAMA_MAX_LOADED_MODELS=3", "env OLLAMA_KEEP_ALIVE=30m0s", "env KEEP_ME=1",
	} {
		if !strings.Contains(string(log), want+"\n") {
			t.Errorf("the server's environment lacks %q", want)
		}
	}
	for range 2 {
		if err := server.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	select {
	case <-server.Done():
	default:
		t.Error("not done after Close")
	}
	if _, err := probe(t.Context(), cfg.HTTP, server.URL, time.Second); err == nil {
		t.Error("the server answers after Close")
	}
}

func TestServerDies(t *testing.T) {
	bin := t.TempDir()
	script(t, bin, "ollama", "exec "+executable(t)+" __serve")
	cfg := testConfig(t, bin)
	cfg.Env["FAKE_OLLAMA"] = "dies"
	_, err := Ensure(t.Context(), cfg, progress.Discard())
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "no such library") || !strings.Contains(err.Error(), "see "+cfg.path("logs")) {
		t.Error(err)
	}
}

func TestServerNeverReady(t *testing.T) {
	bin := t.TempDir()
	script(t, bin, "ollama", "sleep 1000")
	cfg := testConfig(t, bin)
	cfg.ReadyTimeout = 100 * time.Millisecond
	_, err := Ensure(t.Context(), cfg, progress.Discard())
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "did not answer within 100ms") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	cfg.ReadyTimeout = time.Minute
	if _, err := Ensure(ctx, cfg, progress.Discard()); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
}

func TestFindBuildsNothing(t *testing.T) {
	bin := t.TempDir()
	script(t, bin, "go", "exit 9")
	_, err := Find(t.Context(), testConfig(t, bin), progress.Discard())
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "assay doctor") {
		t.Error(err)
	}
}

func TestCacheFolder(t *testing.T) {
	cfg := testConfig(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", filepath.Join(file, "cache")} {
		cfg.CacheDir = dir
		_, err := Ensure(t.Context(), cfg, progress.Discard())
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "ASSAY_CACHE") {
			t.Errorf("%q: %v", dir, err)
		}
	}
	getenv := func(string) string { return "/x" }
	if got := DefaultCacheDir(getenv, "/home/c"); got != "/x" {
		t.Error(got)
	}
	if got := DefaultCacheDir(func(string) string { return "" }, "/home/c"); got != "/home/c/assay" {
		t.Error(got)
	}
}
