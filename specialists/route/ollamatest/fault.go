package ollamatest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Fault is a way in which a call goes wrong.
type Fault string

// The faults. Those of the answer's content act on chats, Vectors… and
// NotANumber on embeddings, the others on every call.
const (
	ServerError Fault = "500"
	QueueFull   Fault = "503 queue full"
	Missing     Fault = "404 model missing"
	TooLong     Fault = "400 context too long"
	NaNRefused  Fault = "400 NaN in the embedding"
	Unauth      Fault = "401"
	Redirect    Fault = "307"
	Garbage     Fault = "garbage instead of JSON"
	HalfBody    Fault = "half a body"
	NoBody      Fault = "no body"
	NotDone     Fault = "an answer that is not done"
	ErrorIn200  Fault = "an error with status 200"
	Huge        Fault = "10 MB answer"
	HugeText    Fault = "10 MB of spaces around the answer"
	Drip        Fault = "slow drip"
	Hang        Fault = "hang"
	Reset       Fault = "connection reset"

	EmptyAnswer Fault = "empty answer"
	Prose       Fault = "prose around the JSON"
	ExtraKey    Fault = "extra key"
	WrongType   Fault = "wrong type"
	Cut         Fault = "done_reason length"
	OffMenu     Fault = "value outside its enumeration"

	NotANumber    Fault = "NaN in a vector"
	VectorMissing Fault = "one vector too few"
	VectorShort   Fault = "a shorter vector"
	VectorLong    Fault = "a vector of length two"
)

type injected struct {
	fault Fault
	left  int // below 0: for ever
}

// Inject lets the next times calls of a path fail; times below 0 is for ever,
// fault "" ends it.
func (s *Server) Inject(path string, fault Fault, times int) {
	s.set(func() { s.faults[path] = &injected{fault, times} })
}

// take is the fault of this call; the caller holds the lock.
func (s *Server) take(path string) Fault {
	f := s.faults[path]
	if f == nil || f.left == 0 {
		return ""
	}
	f.left--
	return f.fault
}

var statuses = map[Fault]struct {
	code int
	text string
}{
	ServerError: {500, "llama runner process has terminated: signal: killed"},
	QueueFull:   {503, "server busy, please try again.  maximum pending requests exceeded"},
	Missing:     {404, "model 'gen' not found"},
	TooLong:     {400, tooLong},
	NaNRefused:  {400, "embedding contains NaN or Inf values"},
	Unauth:      {401, "unauthorized"},
}

// fail answers a call with a fault.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, f Fault, body []byte, answer func([]byte) (int, any)) {
	if st, ok := statuses[f]; ok {
		write(w, st.code, map[string]string{"error": st.text})
		return
	}
	status, v := answer(body)
	raw, err := json.Marshal(v)
	if err != nil {
		raw = nil
	}
	switch f {
	case Hang:
		s.pause(r, time.Hour)
		return
	case Reset:
		panic(http.ErrAbortHandler)
	case Redirect:
		w.Header().Set("Location", "http://elsewhere.invalid/")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	case Drip:
		w.WriteHeader(status)
		for i := range raw {
			_, _ = w.Write(raw[i : i+1])
			_ = http.NewResponseController(w).Flush()
			if !s.pause(r, 50*time.Millisecond) {
				return
			}
		}
		return
	case HalfBody:
		w.Header().Set("Content-Length", "100000")
		w.WriteHeader(status)
		_, _ = w.Write(raw[:len(raw)/2])
		return
	case Garbage:
		raw = []byte("<html>bad gateway</html>\x00\xff")
	case NoBody:
		raw = nil
	case ErrorIn200:
		raw = []byte(`{"error":"an error was encountered while running the model"}`)
	case NotDone:
		raw = bytes.Replace(raw, []byte(`"done":true`), []byte(`"done":false`), 1)
	case HugeText:
		raw = append(bytes.Repeat([]byte(" "), 10<<20), raw...)
	default:
		raw = rewrite(raw, f)
	}
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// rewrite spoils the content of an answer.
func rewrite(raw []byte, f Fault) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return raw
	}
	if v, ok := m["embeddings"]; ok {
		var e [][]float32
		if json.Unmarshal(v, &e) == nil && len(e) > 0 {
			switch f {
			case NotANumber:
				return bytes.Replace(raw, []byte(`[[`), []byte(`[[NaN,`), 1)
			case VectorMissing:
				e = e[1:]
			case VectorShort:
				e[0] = e[0][1:]
			case VectorLong:
				for i := range e[0] {
					e[0][i] *= 2
				}
			}
		}
		m["embeddings"], _ = json.Marshal(e)
	}
	if v, ok := m["message"]; ok {
		var x struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}
		_ = json.Unmarshal(v, &x)
		x.Content = spoil(x.Content, f)
		m["message"], _ = json.Marshal(x)
		if f == Cut {
			m["done_reason"] = json.RawMessage(`"length"`)
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return raw
	}
	return out
}

func spoil(content string, f Fault) string {
	switch f {
	case EmptyAnswer:
		return ""
	case Prose:
		return "Sure! Here is the JSON:\n" + content + "\nI am 95% confident."
	case Cut:
		return content[:len(content)/2]
	case Huge:
		return strings.Repeat("x", 10<<20)
	case ExtraKey:
		return strings.Replace(content, "{", `{"confidence":0.99,`, 1)
	}
	var m map[string]any
	if json.Unmarshal([]byte(content), &m) != nil {
		return content
	}
	for k, v := range m {
		if _, ok := v.(string); !ok || k == "cause" {
			continue
		}
		switch f {
		case WrongType:
			m[k] = []any{v}
		case OffMenu:
			m[k] = "ZZ"
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return content
	}
	return string(out)
}
