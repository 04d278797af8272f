package route_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/route"
	"github.com/fabriccore/assay/specialists/route/ollamatest"
)

// F-060, H-005: each fault becomes its kind of error; only infrastructure is
// tried again, at most twice, and both are recorded.
func TestFaults(t *testing.T) {
	for _, tc := range []struct {
		fault   ollamatest.Fault
		path    string
		want    error
		kind    string
		retries int
	}{
		{ollamatest.ServerError, ollamatest.Chat, route.ErrInfra, "infra", 2},
		{ollamatest.QueueFull, ollamatest.Chat, route.ErrInfra, "infra", 2},
		{ollamatest.Missing, ollamatest.Chat, route.ErrInfra, "infra", 2},
		{ollamatest.Unauth, ollamatest.Chat, route.ErrInfra, "infra", 2},
		{ollamatest.Garbage, ollamatest.Chat, route.ErrInfra, "infra", 2},
		{ollamatest.HalfBody, ollamatest.Chat, route.ErrInfra, "infra", 2},
		{ollamatest.NoBody, ollamatest.Chat, route.ErrInfra, "infra", 2},
		{ollamatest.NotDone, ollamatest.Chat, route.ErrModel, "model", 0},
		{ollamatest.ErrorIn200, ollamatest.Chat, route.ErrInfra, "infra", 2},
		{ollamatest.Reset, ollamatest.Chat, route.ErrInfra, "infra", 2},
		{ollamatest.TooLong, ollamatest.Chat, route.ErrTruncated, "truncated", 0},
		{ollamatest.Cut, ollamatest.Chat, route.ErrTruncated, "truncated", 0},
		{ollamatest.Huge, ollamatest.Chat, route.ErrModel, "model", 0},
		{ollamatest.HugeText, ollamatest.Chat, route.ErrModel, "model", 0},
		// What the content says is the asker's business.
		{ollamatest.EmptyAnswer, ollamatest.Chat, nil, "", 0},
		{ollamatest.Prose, ollamatest.Chat, nil, "", 0},
		{ollamatest.ExtraKey, ollamatest.Chat, nil, "", 0},
		{ollamatest.WrongType, ollamatest.Chat, nil, "", 0},

		{ollamatest.ServerError, ollamatest.Embed, route.ErrInfra, "infra", 2},
		{ollamatest.NotANumber, ollamatest.Embed, route.ErrInfra, "infra", 2}, // no JSON
		{ollamatest.NaNRefused, ollamatest.Embed, route.ErrModel, "model", 0},
		{ollamatest.VectorMissing, ollamatest.Embed, route.ErrInfra, "infra", 2},
		{ollamatest.VectorShort, ollamatest.Embed, route.ErrInfra, "infra", 2},
		{ollamatest.VectorLong, ollamatest.Embed, route.ErrModel, "model", 0},
		{ollamatest.TooLong, ollamatest.Embed, route.ErrTruncated, "truncated", 0},
		{ollamatest.NoBody, ollamatest.Embed, route.ErrInfra, "infra", 2},
		{ollamatest.ErrorIn200, ollamatest.Embed, route.ErrInfra, "infra", 2},
		{ollamatest.HugeText, ollamatest.Embed, route.ErrModel, "model", 0},
	} {
		t.Run(string(tc.fault)+" "+tc.path, func(t *testing.T) {
			t.Parallel()
			s, r := setup(t, 1)
			s.Inject(tc.path, tc.fault, -1)
			call, err := one(t.Context(), r, tc.path)
			if !errors.Is(err, tc.want) || (tc.want == nil) != (err == nil) {
				t.Fatalf("got %v, want %v", err, tc.want)
			}
			if call.ErrorKind != tc.kind || call.Retries != tc.retries || (call.Error == "") != (err == nil) {
				t.Errorf("recorded %q %q after %d retries", call.ErrorKind, call.Error, call.Retries)
			}
			if got := len(s.Requests(tc.path)); got != tc.retries+1 {
				t.Errorf("asked %d times", got)
			}
			if err != nil && (len(err.Error()) > 500 || strings.ContainsRune(err.Error(), 0) || !utf8.ValidString(err.Error())) {
				t.Errorf("message %q", err)
			}
		})
	}
}

func one(ctx context.Context, r *route.Router, path string) (contract.CallRecord, error) {
	if path == ollamatest.Embed {
		e, err := r.Embed(ctx, embed)
		return e.Call, err
	}
	g, err := r.Generate(ctx, ask)
	return g.Call, err
}

// A server that recovers is asked again, and the time of all tries counts.
func TestRetryThenAnswer(t *testing.T) {
	s, r := setup(t, 1)
	s.Inject(ollamatest.Chat, ollamatest.QueueFull, 2)
	g, err := r.Generate(t.Context(), ask)
	if err != nil || g.Text != `{"class":"A"}` || g.Call.Retries != 2 || g.Call.Error != "" {
		t.Fatalf("%+v %v", g.Call, err)
	}
	if g.Call.Timing.Total < 300*time.Millisecond { // pauses of 100 and 200 ms
		t.Errorf("total %v leaves the retries out (Q-43)", g.Call.Timing.Total)
	}
}

// A time-out on a healthy server is the model's, is never tried again and
// counts in full.
func TestTimeoutIsTheModels(t *testing.T) {
	for _, f := range []ollamatest.Fault{ollamatest.Hang, ollamatest.Drip} {
		for _, path := range []string{ollamatest.Chat, ollamatest.Embed} {
			s, r := setup(t, 1)
			s.Inject(path, f, -1)
			ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
			began := time.Now()
			call, err := one(ctx, r, path)
			cancel()
			if !errors.Is(err, route.ErrModel) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, route.ErrInfra) {
				t.Errorf("%s %s: got %v", f, path, err)
			}
			if call.ErrorKind != "model" || call.Retries != 0 || len(s.Requests(path)) != 1 {
				t.Errorf("%s %s: %q, %d retries", f, path, call.ErrorKind, call.Retries)
			}
			if took := time.Since(began); took > time.Second || call.Timing.Total < 100*time.Millisecond {
				t.Errorf("%s %s: took %v, recorded %v", f, path, took, call.Timing.Total)
			}
			if _, err := r.Client().Version(t.Context()); err != nil {
				t.Errorf("the server is healthy: %v", err)
			}
		}
	}
}

// A cancelled call comes back at once, wherever it is: in the server, in the
// pause before a retry, in our own queue.
func TestCancelIsFast(t *testing.T) {
	for name, f := range map[string]ollamatest.Fault{"in the server": ollamatest.Hang, "in a pause": ollamatest.ServerError} {
		s, r := setup(t, 1)
		s.Inject(ollamatest.Chat, f, -1)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		began := time.Now()
		g, err := r.Generate(ctx, ask)
		if took := time.Since(began); !errors.Is(err, context.Canceled) || g.Call.ErrorKind != "cancelled" || took > 90*time.Millisecond+time.Second/2 {
			t.Errorf("%s: %v after %v, recorded %q", name, err, took, g.Call.ErrorKind)
		}
	}
	s, r := setup(t, 1)
	s.Inject(ollamatest.Chat, ollamatest.Hang, 1)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { _, err := r.Generate(ctx, ask); first <- err }()
	for s.Peak() == 0 {
		time.Sleep(time.Millisecond)
	}
	short, stop := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer stop()
	g, err := r.Generate(short, ask)
	// The model was never asked, so that it has no time-out.
	if !errors.Is(err, route.ErrInfra) || errors.Is(err, route.ErrModel) || g.Call.Timing.Wait < 20*time.Millisecond || g.Call.Timing.Total != 0 || g.Call.ErrorKind != "infra" {
		t.Errorf("in our own queue: %v, %+v", err, g.Call.Timing)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := r.Generate(t.Context(), ask); err != nil {
		t.Errorf("the slot was not given back: %v", err)
	}
}

// A time-out that passes while a broken server is given a rest is the
// server's fault, not the model's.
func TestTimeoutInAPauseIsInfra(t *testing.T) {
	s, r := setup(t, 1)
	s.Inject(ollamatest.Chat, ollamatest.ServerError, -1)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	g, err := r.Generate(ctx, ask)
	if !errors.Is(err, route.ErrInfra) || errors.Is(err, route.ErrModel) || g.Call.Retries > 1 {
		t.Errorf("%v after %d retries", err, g.Call.Retries)
	}
}

// A server that is gone is infrastructure.
func TestDeadServer(t *testing.T) {
	s, r := setup(t, 1)
	s.Close()
	g, err := r.Generate(t.Context(), ask)
	if !errors.Is(err, route.ErrInfra) || g.Call.Retries != 2 || strings.Contains(err.Error(), "http://") {
		t.Errorf("%v after %d retries", err, g.Call.Retries)
	}
}

// Design §6: truncation is an error, whatever the server makes of it.
func TestTruncation(t *testing.T) {
	s, r := setup(t, 1)
	q := ask
	q.Prompt = strings.Repeat("x", 4*2048)
	if _, err := r.Generate(t.Context(), q); !errors.Is(err, route.ErrTruncated) {
		t.Errorf("a prompt over num_ctx: %v", err)
	}
	if _, err := r.Embed(t.Context(), contract.EmbedRequest{Profile: contract.ProfileRetrievalRank, Texts: []string{strings.Repeat("x", 4*513)}}); !errors.Is(err, route.ErrTruncated) {
		t.Errorf("a text over the model's context: %v", err)
	}
	q.Prompt = strings.Repeat("x", 4*2045) // fits, but not with the answer
	if _, err := r.Generate(t.Context(), q); !errors.Is(err, route.ErrTruncated) {
		t.Errorf("prompt and answer over num_ctx: %v", err)
	}
	q = ask
	q.NumPredict = 2
	if _, err := r.Generate(t.Context(), q); !errors.Is(err, route.ErrTruncated) {
		t.Errorf("an answer cut at num_predict: %v", err)
	}
	q.Schema = nil
	s.Inject(ollamatest.Chat, ollamatest.Cut, 1)
	if _, err := r.Generate(t.Context(), q); !errors.Is(err, route.ErrTruncated) {
		t.Errorf("free text cut at num_predict: %v", err)
	}
}

// A value that JSON can't carry is an error before any call.
func TestUnwritableRequest(t *testing.T) {
	s, r := setup(t, 1)
	q := ask
	q.Schema = json.RawMessage(`{`)
	if _, err := r.Generate(t.Context(), q); !errors.Is(err, route.ErrModel) || s.Asked() != 0 {
		t.Errorf("%v after %d calls", err, s.Asked())
	}
}
