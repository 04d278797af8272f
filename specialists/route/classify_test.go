package route

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/fabriccore/assay/specialists/contract"
)

// Every error of a call is one of the three kinds or the caller's own end.
func TestClassify(t *testing.T) {
	live := context.Background()
	late, cancel := context.WithDeadline(live, time.Unix(0, 0))
	defer cancel()
	gone, stop := context.WithCancel(live)
	stop()
	status := func(code int, text string) error { return api.StatusError{StatusCode: code, ErrorMessage: text} }
	for _, tc := range []struct {
		name string
		ctx  context.Context
		err  error
		want error
		not  error
	}{
		{"none", live, nil, nil, ErrInfra},
		{"late", late, errors.New("x"), ErrModel, ErrInfra},
		{"late wins over a status", late, status(500, "x"), ErrModel, ErrInfra},
		{"cancelled", gone, errors.New("x"), context.Canceled, ErrModel},
		{"context", live, status(400, "the input length exceeds the context length"), ErrTruncated, ErrModel},
		{"context, other runner", live, status(400, "request (5000 tokens) exceeds the available context size"), ErrTruncated, ErrModel},
		{"another limit", live, status(400, "top_logprobs exceeds 20"), ErrModel, ErrTruncated},
		{"refused", live, status(400, "does not support chat"), ErrModel, ErrInfra},
		{"too large", live, status(413, "x"), ErrModel, ErrInfra},
		{"unauthorized", live, status(401, "x"), ErrInfra, ErrModel},
		{"forbidden", live, status(403, "x"), ErrInfra, ErrModel},
		{"not found", live, status(404, "x"), ErrInfra, ErrModel},
		{"rate", live, status(429, "x"), ErrInfra, ErrModel},
		{"redirect", live, status(307, "x"), ErrInfra, ErrModel},
		{"server", live, status(500, "x"), ErrInfra, ErrModel},
		{"queue", live, status(503, "x"), ErrInfra, ErrModel},
		{"api's own 401", live, api.AuthorizationError{StatusCode: 401}, ErrInfra, ErrModel},
		{"dial", live, &url.Error{Op: "Post", URL: "http://u:secret@h", Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}, ErrInfra, ErrModel},
		{"syntax", live, &json.SyntaxError{}, ErrInfra, ErrModel},
		{"type", live, &json.UnmarshalTypeError{Type: reflect.TypeFor[int](), Value: "x"}, ErrInfra, ErrModel},
		{"half", live, io.ErrUnexpectedEOF, ErrInfra, ErrModel},
		{"sorted before", live, ErrModel, ErrModel, ErrInfra},
	} {
		err := classify(tc.ctx, "ask m", tc.err)
		if tc.want == nil {
			if err != nil {
				t.Errorf("%s: %v", tc.name, err)
			}
			continue
		}
		if !errors.Is(err, tc.want) || errors.Is(err, tc.not) || !strings.HasPrefix(err.Error(), "ask m: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestClip(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\tc":                  "a b c",
		strings.Repeat("a", 200):   strings.Repeat("a", 200),
		strings.Repeat("ä", 101):   strings.Repeat("ä", 100) + "…",
		"x" + "\xff":               "x?",
		strings.Repeat("ä\n", 999): strings.Repeat("ä ", 66) + "ä…",
	} {
		if got := clip(in); got != want {
			t.Errorf("%.20q: %q", in, got)
		}
	}
}

// queue is never below zero, whatever a server says of its times.
func TestFinishQueue(t *testing.T) {
	r := &Router{prefill: map[contract.Profile][]float64{}}
	for _, tc := range []struct{ total, load, prefill, decode, queue time.Duration }{
		{100, 10, 20, 30, 40}, {60, 10, 20, 30, 0}, {50, 10, 20, 30, 0}, {100, 0, 0, 0, 100},
	} {
		rec := contract.CallRecord{Timing: contract.CallTiming{Total: tc.total, Load: tc.load, Prefill: tc.prefill, Decode: tc.decode}}
		r.finish(&rec)
		if rec.Timing.Queue != tc.queue {
			t.Errorf("%+v: queue %v", tc, rec.Timing.Queue)
		}
	}
}

func TestTagOf(t *testing.T) {
	if TagOf("m") != "m:latest" || TagOf("m:135m") != "m:135m" {
		t.Error(TagOf("m"), TagOf("m:135m"))
	}
}
