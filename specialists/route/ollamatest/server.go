// Package ollamatest is a fake Ollama server over real HTTP, for tests. It
// owns the server's side of the calls that package route makes, answers them
// the same way every time, records what it was sent, and fails on demand. It
// refuses models: an answer is a function of its request.
package ollamatest

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
)

// The paths of the calls that a model answers.
const (
	Chat  = "/api/chat"
	Embed = "/api/embed"
)

// Model is one model that the server has.
type Model struct {
	Tag        string // with its ":latest"
	Digest     string
	Template   string
	Context    int    // tokens; 0 = no bound of its own
	RemoteHost string // a model that another host serves
}

// Request is one call as it came.
type Request struct {
	Path string
	Body []byte
}

// Server is a running fake. Its settings change through its methods only; it
// is safe for concurrent use.
type Server struct {
	URL string

	http *httptest.Server
	stop chan struct{}

	mu        sync.Mutex
	models    []Model
	version   string
	reply     func(api.ChatRequest) Reply
	metrics   func(n, promptTokens, outputTokens int) api.Metrics
	latency   time.Duration
	faults    map[string]*injected
	noContext bool
	loaded    map[string]int // context length by tag
	requests  []Request
	inFlight  int
	peak      int
	accepted  int
	answered  int
}

// New starts a server with the models; none gives it "gen:latest" and
// "emb:latest".
func New(models ...Model) *Server {
	if len(models) == 0 {
		models = []Model{{Tag: "gen:latest", Digest: strings.Repeat("a", 64), Template: "{{ .Prompt }}"}, {Tag: "emb:latest", Digest: strings.Repeat("b", 64), Context: 512}}
	}
	s := &Server{models: models, version: "0.17.4", reply: FirstFit, stop: make(chan struct{}), faults: map[string]*injected{}, loaded: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/version", s.serve(s.getVersion))
	mux.HandleFunc("GET /api/tags", s.serve(s.getTags))
	mux.HandleFunc("GET /api/ps", s.serve(s.getLoaded))
	mux.HandleFunc("POST /api/show", s.serve(s.show))
	mux.HandleFunc("POST "+Chat, s.serve(s.chat))
	mux.HandleFunc("POST "+Embed, s.serve(s.embed))
	s.http = httptest.NewUnstartedServer(mux)
	s.http.Config.ConnState = func(_ net.Conn, c http.ConnState) {
		if c == http.StateNew {
			s.set(func() { s.accepted++ })
		}
	}
	s.http.Start()
	s.URL = s.http.URL
	return s
}

// Close ends every hanging answer and the server.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Reply sets what chats are answered with; nil is FirstFit.
func (s *Server) Reply(f func(api.ChatRequest) Reply) {
	if f == nil {
		f = FirstFit
	}
	s.set(func() { s.reply = f })
}

// Latency sets how long every answer of a model takes.
func (s *Server) Latency(d time.Duration) { s.set(func() { s.latency = d }) }

// Metrics sets the times that the n-th answer, from 1, says of itself.
func (s *Server) Metrics(f func(n, promptTokens, outputTokens int) api.Metrics) {
	s.set(func() { s.metrics = f })
}

// SetDigest changes a model under its tag, as a pull in mid-run does.
func (s *Server) SetDigest(tag, digest string) {
	s.set(func() {
		for i := range s.models {
			if s.models[i].Tag == tag {
				s.models[i].Digest = digest
			}
		}
	})
}

// HideContext makes the loaded context length unreadable, as old servers do.
func (s *Server) HideContext() { s.set(func() { s.noContext = true }) }

// Requests are the calls of a path so far, "" for all.
func (s *Server) Requests(path string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Request
	for _, r := range s.requests {
		if path == "" || r.Path == path {
			out = append(out, r)
		}
	}
	return out
}

// Asked is how many calls a model was to answer so far.
func (s *Server) Asked() int { return len(s.Requests(Chat)) + len(s.Requests(Embed)) }

// Peak is the most model calls that were in flight at once.
func (s *Server) Peak() int { s.mu.Lock(); defer s.mu.Unlock(); return s.peak }

// Accepted is how many connections were made.
func (s *Server) Accepted() int { s.mu.Lock(); defer s.mu.Unlock(); return s.accepted }

// serve records a call, lets its fault act and answers it.
func (s *Server) serve(answer func([]byte) (int, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		model := r.URL.Path == Chat || r.URL.Path == Embed
		s.mu.Lock()
		s.requests = append(s.requests, Request{r.URL.Path, body})
		if model {
			s.inFlight++
			s.peak = max(s.peak, s.inFlight)
			defer s.set(func() { s.inFlight-- })
		}
		latency, fault := s.latency, s.take(r.URL.Path)
		s.mu.Unlock()
		if model && latency > 0 && !s.pause(r, latency) {
			return
		}
		if fault != "" {
			s.fail(w, r, fault, body, answer)
			return
		}
		status, v := answer(body)
		write(w, status, v)
	}
}

// pause reports whether the time passed before the caller or the server left.
func (s *Server) pause(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
	case <-s.stop:
	}
	return false
}

func write(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"error":"not JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func problem(status int, text string) (int, any) {
	return status, map[string]string{"error": text}
}

func (s *Server) getVersion([]byte) (int, any) {
	return http.StatusOK, map[string]string{"version": s.version}
}

func (s *Server) getTags([]byte) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var l api.ListResponse
	for _, m := range s.models {
		l.Models = append(l.Models, api.ListModelResponse{Name: m.Tag, Model: m.Tag, Digest: m.Digest, RemoteHost: m.RemoteHost})
	}
	return http.StatusOK, l
}

func (s *Server) getLoaded([]byte) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var p api.ProcessResponse
	for _, m := range s.models {
		if n, ok := s.loaded[m.Tag]; ok {
			if s.noContext {
				n = 0
			}
			p.Models = append(p.Models, api.ProcessModelResponse{Name: m.Tag, Model: m.Tag, Digest: m.Digest, ContextLength: n})
		}
	}
	return http.StatusOK, p
}

func (s *Server) show(body []byte) (int, any) {
	var q api.ShowRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return problem(http.StatusBadRequest, err.Error())
	}
	m, ok := s.model(q.Model)
	if !ok {
		return problem(http.StatusNotFound, "model '"+q.Model+"' not found")
	}
	return http.StatusOK, api.ShowResponse{Template: m.Template}
}

func (s *Server) model(tag string) (Model, bool) {
	if !strings.Contains(tag, ":") {
		tag += ":latest"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.models, func(m Model) bool { return m.Tag == tag })
	if i < 0 {
		return Model{}, false
	}
	return s.models[i], true
}
