package ollamad

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fabriccore/assay/runner/progress"
)

// keep puts weights into the cache as if they had been fetched.
func keep(t *testing.T, cfg Config, e *entry, text string) {
	t.Helper()
	if err := writeFile(cfg.path("weights", e.gguf, e.name+".gguf"), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestCreateOnce(t *testing.T) {
	f := newFake()
	cfg := testConfig(t, t.TempDir())
	server := serveFake(t, f, cfg)
	e := &entry{name: "toy", tag: "assay-toy:1", gguf: sha256Hex([]byte("GGUF")), size: 4, template: chatML}
	keep(t, cfg, e, "GGUF")
	file, err := weights(t.Context(), cfg, e, progress.Discard())
	if err != nil {
		t.Fatal(err)
	}
	if has, err := hasContent(t.Context(), server.Client(), e); has || err != nil {
		t.Fatalf("%v, %v", has, err)
	}
	if err := create(t.Context(), server, server.Client(), e, file, progress.Discard()); err != nil {
		t.Fatal(err)
	}
	if f.blobs["sha256:"+e.gguf] != 4 {
		t.Errorf("blobs %v", f.blobs)
	}
	if has, err := hasContent(t.Context(), server.Client(), e); !has || err != nil {
		t.Errorf("%v, %v", has, err)
	}
	if len(f.models) != 1 {
		t.Errorf("models %v, want only the finished one", f.models)
	}
	// Another model under our name is replaced, another template too.
	f.models[e.tag] = fakeModel{"sha256-" + strings.Repeat("e", 64), chatML, e.base()}
	if has, _ := hasContent(t.Context(), server.Client(), e); has {
		t.Error("other weights pass for the pinned ones")
	}
	f.models[e.tag] = fakeModel{"sha256-" + e.gguf, "{{ .Prompt }}", e.base()}
	if has, _ := hasContent(t.Context(), server.Client(), e); has {
		t.Error("another template passes for ours")
	}
	f.models[e.tag] = fakeModel{"sha256-" + e.gguf, chatML, "/m/blobs/sha256-" + e.gguf}
	if has, _ := hasContent(t.Context(), server.Client(), e); has {
		t.Error("a model whose digest holds a path passes for ours")
	}
}

func TestEnsureModels(t *testing.T) {
	f := newFake()
	cfg := testConfig(t, t.TempDir())
	server := serveFake(t, f, cfg)
	tiny := lookUp("tiny")
	f.models[tiny.tag] = fakeModel{"sha256-" + tiny.gguf, tiny.template, tiny.base()}
	f.models["llama3.2:latest"] = fakeModel{}
	r := &recorder{}
	models, err := EnsureModels(t.Context(), server, []string{"tiny", "llama3.2", tiny.tag}, r)
	if err != nil {
		t.Fatal(err)
	}
	if len(models) != 3 || models[0].Tag != tiny.tag || models[1].Tag != "llama3.2:latest" || models[2].Name != tiny.tag || models[0].Digest != strings.Repeat("d", 64) {
		t.Errorf("%+v", models)
	}
	if f.count("POST /api/create")+f.count("POST /api/pull") != 0 || len(r.all()) != 0 {
		t.Errorf("work was done: %q", f.requests)
	}
}

func TestPull(t *testing.T) {
	f := newFake()
	f.pullable["llama3.2:3b"] = true
	server := serveFake(t, f, testConfig(t, t.TempDir()))
	r := &recorder{}
	models, err := EnsureModels(t.Context(), server, []string{"llama3.2:3b"}, r)
	if err != nil || models[0].Tag != "llama3.2:3b" || models[0].Digest == "" {
		t.Errorf("%+v, %v", models, err)
	}
	if shown := strings.Join(r.all(), "\n"); !strings.Contains(shown, "pulling llama3.2:3b") {
		t.Errorf("shown: %q", shown)
	}
	_, err = EnsureModels(t.Context(), server, []string{"nosuch:1b"}, progress.Discard())
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "model nosuch:1b is not on the server and cannot be pulled") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

func TestServerFailures(t *testing.T) {
	f := newFake()
	f.refuse = "write /m/blobs: no space left on device"
	cfg := testConfig(t, t.TempDir())
	server := serveFake(t, f, cfg)
	e := &entry{name: "toy", tag: "assay-toy:1", gguf: sha256Hex([]byte("GGUF")), size: 4}
	keep(t, cfg, e, "GGUF")
	err := create(t.Context(), server, server.Client(), e, cfg.path("weights", e.gguf, "toy.gguf"), progress.Discard())
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "free some disk space where the server keeps its models") {
		t.Error(err)
	}
	gone := *server
	gone.URL, gone.LogPath = "http://127.0.0.1:1", "/logs/x"
	if _, err := EnsureModels(t.Context(), &gone, []string{"tiny"}, progress.Discard()); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "see /logs/x") {
		t.Error(err)
	}
}

// A server of ours gets the weights as a link instead of a second copy.
func TestShare(t *testing.T) {
	cfg := testConfig(t, t.TempDir())
	file := filepath.Join(cfg.CacheDir, "w.gguf")
	if err := os.WriteFile(file, []byte("GGUF"), 0o644); err != nil {
		t.Fatal(err)
	}
	foreign := &Server{cfg: cfg}
	if foreign.share(file, "aa") {
		t.Error("shared with a server of somebody else")
	}
	ours := &Server{cfg: cfg, proc: &process{}}
	for range 2 {
		if !ours.share(file, "aa") {
			t.Error("not shared")
		}
	}
	if data, err := os.ReadFile(cfg.path("models", "blobs", "sha256-aa")); string(data) != "GGUF" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

// H-004: processes that share a model folder create a model once; none takes
// the weights' name away from under another.
func TestH004CreateSideBySide(t *testing.T) {
	f := newFake()
	cfg := testConfig(t, t.TempDir())
	e := &entry{name: "toy", tag: "assay-toy:1", gguf: sha256Hex([]byte("GGUF")), size: 4, template: chatML}
	keep(t, cfg, e, "GGUF")
	server := serveFake(t, f, cfg)
	errs := make(chan error)
	for range 4 {
		go func() { errs <- createOnce(t.Context(), server, server.Client(), e, progress.Discard()) }()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := f.count("POST /api/create"); n != 2 {
		t.Errorf("%d creates, want 2", n)
	}
	if n := f.count("DELETE /api/delete"); n != 1 {
		t.Errorf("%d deletes, want 1", n)
	}
}
