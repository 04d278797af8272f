package ollamatest

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"math"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
)

// Dimensions is the length of the server's vectors.
const Dimensions = 64

// Reply is what a chat is answered with. DoneReason "" is "stop".
type Reply struct {
	Content    string
	Logprobs   []api.Logprob // nil: even ones, where asked for
	DoneReason string
}

// FirstFit answers with the least that satisfies the request's schema: the
// first member of an enumeration, the shortest text.
func FirstFit(q api.ChatRequest) Reply { return Reply{Content: Fit(q, nil)} }

// Fit is FirstFit with some properties given, key order as in the schema.
func Fit(q api.ChatRequest, given map[string]any) string {
	if len(q.Format) == 0 {
		return "ok"
	}
	var s struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(q.Format, &s) != nil || len(s.Properties) == 0 {
		return "{}"
	}
	var b bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	_, _ = d.Token()
	b.WriteByte('{')
	for i := 0; d.More(); i++ {
		key, _ := d.Token()
		var p struct {
			Type string            `json:"type"`
			Enum []json.RawMessage `json:"enum"`
		}
		if d.Decode(&p) != nil {
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := key.(string)
		value := json.RawMessage(`"because"`)
		switch {
		case given[name] != nil:
			value, _ = json.Marshal(given[name])
		case len(p.Enum) > 0:
			value = p.Enum[0]
		case p.Type == "integer" || p.Type == "number":
			value = json.RawMessage("1")
		}
		k, _ := json.Marshal(name)
		b.Write(k)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.String()
}

// Tokens counts a text's tokens, four bytes each.
func Tokens(s string) int { return (len(s) + 3) / 4 }

func option(o map[string]any, name string, otherwise int) int {
	if f, ok := o[name].(float64); ok && f > 0 {
		return int(f)
	}
	return otherwise
}

// load notes that a model is loaded and returns its context length.
func (s *Server) load(m Model, o map[string]any) int {
	n := option(o, "num_ctx", 4096)
	if m.Context > 0 {
		n = min(n, m.Context)
	}
	s.set(func() { s.loaded[m.Tag] = n })
	return n
}

const tooLong = "the input length exceeds the context length"

func (s *Server) chat(body []byte) (int, any) {
	var q api.ChatRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return problem(http.StatusBadRequest, err.Error())
	}
	m, ok := s.model(q.Model)
	if !ok {
		return problem(http.StatusNotFound, "model '"+q.Model+"' not found")
	}
	prompt := 0
	for _, x := range q.Messages {
		prompt += Tokens(x.Content)
	}
	if prompt > s.load(m, q.Options) {
		return problem(http.StatusBadRequest, tooLong)
	}
	s.mu.Lock()
	reply := s.reply
	s.mu.Unlock()
	r := reply(q)
	if r.DoneReason == "" {
		r.DoneReason = "stop"
	}
	if most := option(q.Options, "num_predict", 0); most > 0 && Tokens(r.Content) > most {
		r.Content, r.DoneReason = strings.ToValidUTF8(r.Content[:4*most], ""), "length"
	}
	out := api.ChatResponse{Model: q.Model, CreatedAt: time.Unix(0, 0).UTC(), Message: api.Message{Role: "assistant", Content: r.Content},
		Done: true, DoneReason: r.DoneReason, Metrics: s.measure(prompt, Tokens(r.Content))}
	if q.Logprobs {
		if out.Logprobs = r.Logprobs; out.Logprobs == nil {
			out.Logprobs = Even(r.Content, q.TopLogprobs)
		}
	}
	return http.StatusOK, out
}

func (s *Server) measure(prompt, output int) api.Metrics {
	s.mu.Lock()
	s.answered++
	n, f := s.answered, s.metrics
	s.mu.Unlock()
	m := api.Metrics{LoadDuration: 2 * time.Microsecond, PromptEvalDuration: time.Duration(prompt) * 10, EvalDuration: time.Duration(output) * 20}
	if f != nil {
		m = f(n, prompt, output)
	}
	m.PromptEvalCount, m.EvalCount = prompt, output
	return m
}

var token = regexp.MustCompile(`[A-Za-z_]+|[0-9]+|\s+|.`)

// Even gives every token of a content the alternatives A, B, C … at equal
// log-probability.
func Even(content string, top int) []api.Logprob {
	var out []api.Logprob
	for _, t := range token.FindAllString(content, -1) {
		p := api.Logprob{TokenLogprob: api.TokenLogprob{Token: t, Logprob: -1}}
		for i := range min(top, 20) {
			p.TopLogprobs = append(p.TopLogprobs, api.TokenLogprob{Token: string(rune('A' + i)), Logprob: -1})
		}
		out = append(out, p)
	}
	return out
}

func (s *Server) embed(body []byte) (int, any) {
	var q struct {
		Model   string         `json:"model"`
		Input   []string       `json:"input"`
		Options map[string]any `json:"options"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return problem(http.StatusBadRequest, err.Error())
	}
	m, ok := s.model(q.Model)
	if !ok {
		return problem(http.StatusNotFound, "model '"+q.Model+"' not found")
	}
	n, prompt := s.load(m, q.Options), 0
	out := api.EmbedResponse{Model: q.Model, Embeddings: [][]float32{}}
	for _, t := range q.Input {
		if Tokens(t) > n {
			return problem(http.StatusBadRequest, tooLong)
		}
		prompt += Tokens(t)
		out.Embeddings = append(out.Embeddings, Vector(t))
	}
	x := s.measure(prompt, 0)
	out.PromptEvalCount, out.LoadDuration, out.TotalDuration = prompt, x.LoadDuration, x.LoadDuration+x.PromptEvalDuration
	return http.StatusOK, out
}

// Vector is the unit vector of a text's hashed bag of words: texts that share
// words are near each other.
func Vector(text string) []float32 {
	v := make([]float64, Dimensions)
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(w))
		v[h.Sum32()%Dimensions]++
	}
	var square float64
	for _, f := range v {
		square += f * f
	}
	if square == 0 {
		v[0], square = 1, 1
	}
	out := make([]float32, Dimensions)
	for i, f := range v {
		out[i] = float32(f / math.Sqrt(square))
	}
	return out
}
