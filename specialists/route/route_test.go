package route_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
	"go.uber.org/goleak"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/route"
	"github.com/fabriccore/assay/specialists/route/ollamatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var opts = route.Options{NumCtx: 2048, NumPredict: 64, NumThread: 1, Seed: 7, Temperature: 0, KeepAlive: 30 * time.Minute}

func spec() route.Spec {
	return route.Spec{Name: "r", Profiles: map[contract.Profile]route.ModelSpec{
		contract.ProfileBalancedReason: {Model: "gen:latest", Options: opts},
		contract.ProfileRetrievalRank:  {Model: "emb", Options: opts},
	}}
}

// setup starts a fake and a router on it; everything ends with the test.
func setup(t testing.TB, inFlight int) (*ollamatest.Server, *route.Router) {
	t.Helper()
	s := ollamatest.New()
	c, err := route.NewClient(s.URL, inFlight, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	r, err := route.NewRouter(t.Context(), c, spec())
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

var ask = contract.GenerateRequest{Profile: contract.ProfileBalancedReason, System: "be brief", Prompt: "why?",
	Schema: json.RawMessage(`{"type":"object","properties":{"class":{"enum":["A","B"]}},"required":["class"]}`)}

var embed = contract.EmbedRequest{Profile: contract.ProfileRetrievalRank, Texts: []string{"disk full", "port in use"}}

// H-005: every option that shapes an answer is in every body, and what is
// recorded is what was sent.
func TestH005_OptionsAlwaysSetAndRecorded(t *testing.T) {
	s, r := setup(t, 1)
	g, err := r.Generate(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Embed(t.Context(), embed)
	if err != nil {
		t.Fatal(err)
	}
	for path, call := range map[string]contract.CallRecord{ollamatest.Chat: g.Call, ollamatest.Embed: e.Call} {
		raw := s.Requests(path)[0].Body
		if string(raw) != string(call.Request) || contract.Sum(raw) != "sha256:"+call.RequestSHA256 {
			t.Errorf("%s: the record is not of the body that was sent", path)
		}
		var body map[string]any
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Fatal(err)
		}
		sent, _ := body["options"].(map[string]any)
		for k, want := range map[string]float64{"num_ctx": 2048, "num_predict": 64, "num_thread": 1, "seed": 7, "temperature": 0,
			"top_k": 40, "top_p": 1, "min_p": 0, "repeat_penalty": 1, "repeat_last_n": 64} {
			if got, ok := sent[k].(float64); !ok || got != want {
				t.Errorf("%s: option %s is %v, want %v", path, k, sent[k], want)
			}
			if call.Options[k] == nil {
				t.Errorf("%s: option %s is not recorded", path, k)
			}
		}
		if len(sent) != len(call.Options) {
			t.Errorf("%s: sent %v, recorded %v", path, sent, call.Options)
		}
		if body["truncate"] != false || body["keep_alive"] != "30m0s" {
			t.Errorf("%s: truncate %v, keep_alive %v", path, body["truncate"], body["keep_alive"])
		}
		if path == ollamatest.Chat && (body["stream"] != false || body["think"] != false || body["shift"] != false) {
			t.Errorf("chat: stream %v, think %v, shift %v", body["stream"], body["think"], body["shift"])
		}
	}
	o := r.Options(contract.ProfileBalancedReason)
	if o["keep_alive"] != "30m0s" || o["think"] != false || o["num_predict"] != 64 {
		t.Errorf("fingerprint options: %v", o)
	}
}

// H-005: a request's own bound narrows the route's and never widens it; no
// bound at all is not sent as none.
func TestH005_PredictIsBounded(t *testing.T) {
	for _, tc := range []struct{ route, request, want int }{{64, 0, 64}, {64, 10, 10}, {64, 100, 64}, {0, 10, 10}, {0, 0, 256}, {-1, 0, 256}} {
		s, r := setup(t, 1)
		sp := spec()
		m := sp.Profiles[contract.ProfileBalancedReason]
		m.Options.NumPredict = tc.route
		sp.Profiles[contract.ProfileBalancedReason] = m
		r, err := route.NewRouter(t.Context(), r.Client(), sp)
		if err != nil {
			t.Fatal(err)
		}
		q := ask
		q.NumPredict = tc.request
		if _, err := r.Generate(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		var body struct{ Options map[string]int }
		_ = json.Unmarshal(s.Requests(ollamatest.Chat)[0].Body, &body)
		if body.Options["num_predict"] != tc.want {
			t.Errorf("route %d, request %d: sent %d, want %d", tc.route, tc.request, body.Options["num_predict"], tc.want)
		}
	}
}

// H-006, H-005: the same question is the same body.
func TestSameQuestionSameBody(t *testing.T) {
	s, r := setup(t, 1)
	for range 2 {
		if _, err := r.Generate(t.Context(), ask); err != nil {
			t.Fatal(err)
		}
	}
	q := s.Requests(ollamatest.Chat)
	if string(q[0].Body) != string(q[1].Body) {
		t.Error("two bodies")
	}
}

// H-004: the record names model and digest; a changed digest is seen by the
// next description.
func TestH004_Digest(t *testing.T) {
	s, r := setup(t, 1)
	g, err := r.Generate(t.Context(), ask)
	if err != nil || g.Call.ModelDigest != strings.Repeat("a", 64) || g.Call.Model != "gen:latest" {
		t.Fatalf("%+v %v", g.Call, err)
	}
	s.SetDigest("gen:latest", strings.Repeat("c", 64))
	i, err := r.Client().Describe(t.Context(), "gen")
	if err != nil || i.Digest != strings.Repeat("c", 64) || i.TemplateSHA256 == "" {
		t.Fatalf("%+v %v", i, err)
	}
}

// Design §6: the loaded context length is read back; a server that does not
// tell gives 0.
func TestContextReadBack(t *testing.T) {
	s, r := setup(t, 1)
	for _, step := range []struct {
		do   func()
		tag  string
		want int
	}{
		{func() {}, "gen", 0},
		{func() { _, _ = r.Generate(t.Context(), ask) }, "gen", 2048},
		{func() { _, _ = r.Embed(t.Context(), embed) }, "emb:latest", 512}, // the model's own bound
		{s.HideContext, "gen", 0},
	} {
		step.do()
		if n, err := r.Client().LoadedContext(t.Context(), step.tag); n != step.want || err != nil {
			t.Errorf("%s: %d %v, want %d", step.tag, n, err, step.want)
		}
	}
}

// H-015: never more calls in flight than configured, through one pool.
func TestH015_InFlightAndPool(t *testing.T) {
	for _, bound := range []int{0, 1, 3} { // 0 counts as 1
		s, r := setup(t, bound)
		s.Latency(3 * time.Millisecond)
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				var err error
				if i%2 == 0 {
					_, err = r.Generate(t.Context(), ask)
				} else {
					_, err = r.Embed(t.Context(), embed)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		want := max(bound, 1)
		if s.Peak() != want {
			t.Errorf("bound %d: %d in flight", bound, s.Peak())
		}
		if s.Accepted() > want+2 {
			t.Errorf("bound %d: %d connections", bound, s.Accepted())
		}
	}
}

// A local route goes through no proxy, whatever the environment says, and
// follows no redirect off its host.
func TestNoProxyNoRedirect(t *testing.T) {
	for _, k := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(k, "http://127.0.0.1:1")
	}
	s, r := setup(t, 1)
	if _, err := r.Generate(t.Context(), ask); err != nil {
		t.Fatal(err)
	}
	s.Inject(ollamatest.Chat, ollamatest.Redirect, -1)
	if _, err := r.Generate(t.Context(), ask); !errors.Is(err, route.ErrInfra) {
		t.Errorf("got %v", err)
	}
}

// A model that the server passes on to another host is no local route.
func TestRemoteModelRefused(t *testing.T) {
	s := ollamatest.New(ollamatest.Model{Tag: "gen:latest", RemoteHost: "https://elsewhere.invalid"})
	defer s.Close()
	c, err := route.NewClient(s.URL, 1, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Describe(t.Context(), "gen"); !errors.Is(err, route.ErrInfra) || !strings.Contains(err.Error(), "another host") {
		t.Errorf("got %v", err)
	}
}

func TestUnknownModelAndProfile(t *testing.T) {
	_, r := setup(t, 1)
	if _, err := r.Client().Describe(t.Context(), "absent"); !errors.Is(err, route.ErrInfra) || !strings.Contains(err.Error(), "assay models pull absent") {
		t.Errorf("got %v", err)
	}
	q := ask
	q.Profile = contract.ProfileVision
	if _, err := r.Generate(t.Context(), q); !errors.Is(err, route.ErrNoProfile) || r.Has(q.Profile) {
		t.Errorf("got %v", err)
	}
	if _, err := r.Embed(t.Context(), contract.EmbedRequest{Profile: contract.ProfileVision}); !errors.Is(err, route.ErrNoProfile) {
		t.Errorf("got %v", err)
	}
}

// No password of the address shows up in an error.
func TestNoCredentialsInErrors(t *testing.T) {
	const secret = "s3cr3t"
	for _, base := range []string{"http://user:" + secret + "@127.0.0.1:1?token=" + secret, "ftp://user:" + secret + "@host", "user:" + secret + "@host", "http://user:" + secret + "@%zz"} {
		c, err := route.NewClient(base, 1, time.Now)
		if err == nil {
			_, err = c.Version(context.Background())
			if _, e := c.Describe(context.Background(), "m"); e != nil {
				err = errors.Join(err, e)
			}
			c.Close()
		}
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%v", err)
		}
	}
}

// load, prefill and decode are the server's word, queue is what
// is left of the client's total, wait stands apart.
func TestQ43_TimingParts(t *testing.T) {
	s, r := setup(t, 1)
	s.Latency(30 * time.Millisecond)
	s.Metrics(func(int, int, int) api.Metrics {
		return api.Metrics{LoadDuration: 2 * time.Millisecond, PromptEvalDuration: 3 * time.Millisecond, EvalDuration: 5 * time.Millisecond}
	})
	var wg sync.WaitGroup
	calls := make([]contract.CallRecord, 2)
	for i := range calls {
		wg.Go(func() {
			g, err := r.Generate(t.Context(), ask)
			if err != nil {
				t.Error(err)
			}
			calls[i] = g.Call
		})
	}
	wg.Wait()
	waited := time.Duration(0)
	for _, c := range calls {
		m := c.Timing
		waited = max(waited, m.Wait)
		if m.Total < 30*time.Millisecond || m.Total > 300*time.Millisecond || m.Load != 2*time.Millisecond || m.Prefill != 3*time.Millisecond || m.Decode != 5*time.Millisecond {
			t.Errorf("timing %+v", m)
		}
		if m.Queue != m.Total-m.Load-m.Prefill-m.Decode {
			t.Errorf("queue %v of %+v", m.Queue, m)
		}
	}
	if waited < 25*time.Millisecond {
		t.Errorf("the second call waited %v for the slot of the first", waited)
	}
}

// a load makes a call cold, a look-up does not.
func TestQ43_Cold(t *testing.T) {
	s, r := setup(t, 1)
	for _, tc := range []struct {
		load time.Duration
		cold bool
	}{{time.Second, true}, {250 * time.Millisecond, true}, {249 * time.Millisecond, false}, {0, false}} {
		s.Metrics(func(int, int, int) api.Metrics { return api.Metrics{LoadDuration: tc.load} })
		g, err := r.Generate(t.Context(), ask)
		if err != nil || g.Call.Cold != tc.cold {
			t.Errorf("load %v: cold %v, %v", tc.load, g.Call.Cold, err)
		}
	}
}

// a prefill far above the route's own rate is flagged as reuse, and does
// not move the rate it is measured by.
func TestQ51_PrefixReuse(t *testing.T) {
	s, r := setup(t, 1)
	q := ask
	q.Prompt = strings.Repeat("word ", 100)
	for i, tc := range []struct {
		perToken time.Duration
		reused   bool
	}{{100, false}, {120, false}, {80, false}, {24, true}, {24, true}, {26, false}, {99, false}} {
		s.Metrics(func(_, prompt, _ int) api.Metrics {
			return api.Metrics{PromptEvalDuration: tc.perToken * time.Duration(prompt)}
		})
		g, err := r.Generate(t.Context(), q)
		if err != nil || g.Call.Reused != tc.reused {
			t.Errorf("call %d at %d ns a token: reused %v, %v", i, tc.perToken, g.Call.Reused, err)
		}
	}
}

// Log-probabilities come through where they are asked for.
func TestLogprobs(t *testing.T) {
	_, r := setup(t, 1)
	q := ask
	q.TopLogprobs = 3
	g, err := r.Generate(t.Context(), q)
	if err != nil || len(g.Logprobs) == 0 || len(g.Logprobs[0].Top) != 3 || g.Logprobs[0].Top[1].Token != "B" {
		t.Errorf("%+v %v", g.Logprobs, err)
	}
	if g, err = r.Generate(t.Context(), ask); err != nil || g.Logprobs != nil {
		t.Errorf("%+v %v", g.Logprobs, err)
	}
}

// BenchmarkGenerate is the client's own cost of a call.
func BenchmarkGenerate(b *testing.B) {
	_, r := setup(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Generate(b.Context(), ask); err != nil {
			b.Fatal(err)
		}
	}
}
