package ollamad

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ollama/ollama/api"
)

// fakeOllama is the part of the API that this package uses, in memory.
type fakeOllama struct {
	mu       sync.Mutex
	models   map[string]fakeModel
	blobs    map[string]int // digest → bytes
	requests []string
	pullable map[string]bool
	refuse   string // fails every create with this text
}

type fakeModel struct{ from, template, parent string }

func newFake() *fakeOllama {
	return &fakeOllama{models: map[string]fakeModel{}, blobs: map[string]int{}, pullable: map[string]bool{}}
}

// serveFake starts a fake and returns a Server that leads to it.
func serveFake(t *testing.T, f *fakeOllama, cfg Config) *Server {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return &Server{URL: server.URL, Version: "0.0.1", Origin: Explicit, cfg: cfg.withDefaults()}
}

func (f *fakeOllama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	path, blob, _ := strings.Cut(r.URL.Path, "/blobs/")
	f.requests = append(f.requests, r.Method+" "+path)
	fail := func(code int, text string) {
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"error":%q}`, text)
	}
	var named struct{ Model string }
	json.Unmarshal(body, &named)
	switch path {
	case "/api/version":
		fmt.Fprint(w, `{"version":"0.0.1"}`)
	case "/api/show":
		m, ok := f.models[named.Model]
		if !ok {
			fail(http.StatusNotFound, "model not found")
			return
		}
		json.NewEncoder(w).Encode(api.ShowResponse{
			Modelfile: "FROM /m/blobs/" + m.from, Template: m.template, Details: api.ModelDetails{ParentModel: m.parent},
		})
	case "/api":
		f.blobs[blob] = len(body)
	case "/api/create":
		var request api.CreateRequest
		json.Unmarshal(body, &request)
		if f.refuse != "" {
			fail(http.StatusInternalServerError, f.refuse)
			return
		}
		for _, digest := range request.Files {
			f.models[request.Model] = fakeModel{strings.Replace(digest, ":", "-", 1), request.Template, "/m/blobs"}
		}
		if request.From != "" {
			f.models[request.Model] = fakeModel{f.models[request.From].from, request.Template, request.From}
		}
		fmt.Fprintln(w, `{"status":"success"}`)
	case "/api/delete":
		delete(f.models, named.Model)
	case "/api/pull":
		if !f.pullable[named.Model] {
			fail(http.StatusInternalServerError, "pull model manifest: file does not exist")
			return
		}
		for _, done := range []int{1 << 20, 4 << 20, 5 << 20} {
			fmt.Fprintf(w, `{"status":"pulling","digest":"sha256:aa","total":%d,"completed":%d}`+"\n", 5<<20, done)
		}
		fmt.Fprintln(w, `{"status":"success"}`)
		f.models[named.Model] = fakeModel{from: "sha256-aa"}
	case "/api/tags":
		var list api.ListResponse
		for tag := range f.models {
			list.Models = append(list.Models, api.ListModelResponse{Name: tag, Digest: strings.Repeat("d", 64), Size: 7})
		}
		json.NewEncoder(w).Encode(list)
	default:
		fail(http.StatusNotFound, "404 page not found")
	}
}

func (f *fakeOllama) count(request string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.requests {
		if r == request {
			n++
		}
	}
	return n
}

// fakeServeMain is an `ollama serve` that only answers for its version. With
// FAKE_OLLAMA=dies it ends at once.
func fakeServeMain() int {
	if os.Getenv("FAKE_OLLAMA") == "dies" {
		fmt.Fprintln(os.Stderr, "Error: no such library")
		return 1
	}
	listener, err := net.Listen("tcp", os.Getenv("OLLAMA_HOST"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	fmt.Fprintln(os.Stderr, "env", strings.Join(os.Environ(), "\nenv "))
	http.Serve(listener, newFake())
	return 0
}

// script writes an executable shell script named name into a fresh folder, to
// be put on a PATH.
func script(t *testing.T, dir, name, body string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// testConfig has a fresh cache and a PATH that holds only dir and the system's
// shell tools.
func testConfig(t *testing.T, dir string) Config {
	t.Helper()
	return Config{
		Env:      map[string]string{"PATH": dir + ":/bin", "HOME": t.TempDir()},
		CacheDir: t.TempDir(), Executable: executable(t), DefaultURL: "-",
	}.withDefaults()
}
