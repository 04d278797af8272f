package route

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/fabriccore/assay/specialists/contract"
)

// maxRetries bounds how often a call is tried again after ErrInfra. Calls have
// no side effect, so trying again is safe; time-outs are never tried again.
const maxRetries = 2

// coldLoad is the least load time that counts as loading a model rather than
// looking it up. A warm look-up takes tens of milliseconds, a real load of the
// smallest model here several hundred.
const coldLoad = 250 * time.Millisecond

// Router serves one route's profiles through a client. It is safe for
// concurrent use.
type Router struct {
	client *Client
	spec   Spec
	models map[contract.Profile]ModelInfo

	mu      sync.Mutex
	prefill map[contract.Profile][]float64 // ns a token, of uncached calls
}

// NewRouter resolves every profile of the spec on the server.
func NewRouter(ctx context.Context, c *Client, spec Spec) (*Router, error) {
	r := &Router{client: c, spec: spec, models: map[contract.Profile]ModelInfo{}, prefill: map[contract.Profile][]float64{}}
	for _, p := range slices.Sorted(maps.Keys(spec.Profiles)) {
		info, err := c.Describe(ctx, spec.Profiles[p].Model)
		if err != nil {
			return nil, err
		}
		r.models[p] = info
	}
	return r, nil
}

// Spec returns the route as stated.
func (r *Router) Spec() Spec { return r.spec }

// Client returns the client that the router calls.
func (r *Router) Client() *Client { return r.client }

// Has reports whether the route maps p to a model.
func (r *Router) Has(p contract.Profile) bool {
	_, ok := r.spec.Profiles[p]
	return ok
}

// ModelInfo returns what the server said of p's model when the router was made.
func (r *Router) ModelInfo(p contract.Profile) (ModelInfo, bool) {
	i, ok := r.models[p]
	return i, ok
}

// boundPredict bounds an answer, in tokens, where a route states no bound: a
// server takes 0 for none.
const boundPredict = 256

// options are all options that shape an answer, always set (H-005).
func options(o Options, numPredict int) map[string]any {
	if numPredict <= 0 {
		numPredict = boundPredict
	}
	m := map[string]any{
		"num_ctx": o.NumCtx, "num_thread": o.NumThread, "seed": o.Seed,
		"temperature": o.Temperature, "top_k": 40, "top_p": 1.0, "min_p": 0.0,
		"repeat_penalty": 1.0, "repeat_last_n": 64, "num_predict": numPredict,
	}
	return m
}

// Generate asks the profile's model for one answer.
func (r *Router) Generate(ctx context.Context, q contract.GenerateRequest) (contract.GenerateResult, error) {
	spec, info, err := r.profile(q.Profile)
	if err != nil {
		return contract.GenerateResult{}, err
	}
	o := spec.Options
	predict := o.NumPredict
	if q.NumPredict > 0 && (predict <= 0 || q.NumPredict < predict) {
		predict = q.NumPredict
	}
	no, think := false, &api.ThinkValue{Value: o.Think}
	req := &api.ChatRequest{
		Model: spec.Model, Stream: &no, Format: q.Schema, Truncate: &no, Shift: &no, Think: think,
		KeepAlive: &api.Duration{Duration: o.KeepAlive}, Options: options(o, predict),
		Logprobs: q.TopLogprobs > 0, TopLogprobs: q.TopLogprobs,
	}
	if q.System != "" {
		req.Messages = append(req.Messages, api.Message{Role: "system", Content: q.System})
	}
	req.Messages = append(req.Messages, api.Message{Role: "user", Content: q.Prompt})
	rec := newRecord(contract.CallGenerate, q.Profile, spec, info, req, req.Options)
	var resp api.ChatResponse
	err = r.call(ctx, &rec, func(ctx context.Context) (err error) {
		resp, rec.Response, err = r.client.chat(ctx, rec.Request)
		return err
	})
	rec.PromptTokens, rec.OutputTokens, rec.DoneReason = resp.PromptEvalCount, resp.EvalCount, resp.DoneReason
	// What the server says of its own time is no time when it is negative.
	rec.Timing.Load, rec.Timing.Prefill, rec.Timing.Decode = max(resp.LoadDuration, 0), max(resp.PromptEvalDuration, 0), max(resp.EvalDuration, 0)
	r.finish(&rec)
	if err == nil && o.NumCtx > 0 && resp.PromptEvalCount+resp.EvalCount > o.NumCtx {
		err = fmt.Errorf("ask %s: prompt and answer of %d tokens exceed num_ctx %d: %w", spec.Model, resp.PromptEvalCount+resp.EvalCount, o.NumCtx, ErrTruncated)
	}
	// An object that closed with its last token is whole; free text never is.
	if err == nil && resp.DoneReason == "length" && (len(q.Schema) == 0 || !json.Valid([]byte(resp.Message.Content))) {
		err = fmt.Errorf("ask %s: answer cut at num_predict %d: %w", spec.Model, predict, ErrTruncated)
	}
	setError(&rec, err)
	if err != nil {
		return contract.GenerateResult{Call: rec}, err
	}
	return contract.GenerateResult{Text: resp.Message.Content, Logprobs: logprobs(resp.Logprobs), Call: rec}, nil
}

// Embed asks the profile's model for one unit vector a text.
func (r *Router) Embed(ctx context.Context, q contract.EmbedRequest) (contract.EmbedResult, error) {
	spec, info, err := r.profile(q.Profile)
	if err != nil {
		return contract.EmbedResult{}, err
	}
	no := false
	req := &api.EmbedRequest{
		Model: spec.Model, Input: q.Texts, Truncate: &no,
		KeepAlive: &api.Duration{Duration: spec.Options.KeepAlive}, Options: options(spec.Options, spec.Options.NumPredict),
	}
	rec := newRecord(contract.CallEmbed, q.Profile, spec, info, req, req.Options)
	var resp api.EmbedResponse
	err = r.call(ctx, &rec, func(ctx context.Context) (err error) {
		resp, err = r.client.embed(ctx, rec.Request, len(q.Texts))
		return err
	})
	// The vectors themselves are not kept: they follow from the request.
	rec.Response, _ = json.Marshal(map[string]any{"model": resp.Model, "vectors": len(resp.Embeddings),
		"total_duration": resp.TotalDuration, "load_duration": resp.LoadDuration, "prompt_eval_count": resp.PromptEvalCount})
	rec.PromptTokens = resp.PromptEvalCount
	rec.Timing.Load = max(resp.LoadDuration, 0)
	if d := resp.TotalDuration - resp.LoadDuration; d > 0 {
		rec.Timing.Prefill = d
	}
	r.finish(&rec)
	setError(&rec, err)
	if err != nil {
		return contract.EmbedResult{Call: rec}, err
	}
	return contract.EmbedResult{Vectors: resp.Embeddings, Call: rec}, nil
}

func (r *Router) profile(p contract.Profile) (ModelSpec, ModelInfo, error) {
	spec, ok := r.spec.Profiles[p]
	if !ok {
		return ModelSpec{}, ModelInfo{}, fmt.Errorf("route %q, profile %q: %w", r.spec.Name, p, ErrNoProfile)
	}
	return spec, r.models[p], nil
}

func newRecord(kind contract.CallKind, p contract.Profile, spec ModelSpec, info ModelInfo, req any, opts map[string]any) contract.CallRecord {
	body, err := json.Marshal(req)
	if err != nil {
		body = nil // call reports it
	}
	return contract.CallRecord{Kind: kind, Profile: p, Model: spec.Model, ModelDigest: info.Digest,
		RequestSHA256: sumHex(body), Options: opts, Request: body}
}

// call waits for a slot, runs f and tries again after ErrInfra. Wait holds the
// time in our own semaphore, Total all the rest, retries and pauses included.
func (r *Router) call(ctx context.Context, rec *contract.CallRecord, f func(context.Context) error) error {
	start := r.client.now()
	if err := r.client.slots.Acquire(ctx, 1); err != nil {
		rec.Timing.Wait = r.client.now().Sub(start)
		if errors.Is(err, context.DeadlineExceeded) { // the model was never asked
			return fmt.Errorf("wait for a free slot: none within the time-out: %w", ErrInfra)
		}
		return classify(ctx, "wait for a free slot", err)
	}
	defer r.client.slots.Release(1)
	began := r.client.now()
	rec.Timing.Wait = began.Sub(start)
	if rec.Request == nil {
		return fmt.Errorf("ask %s: the request can't be written as JSON: %w", rec.Model, ErrModel)
	}
	var err error
	for try := 0; ; try++ {
		failed := err
		if err = classify(ctx, "ask "+rec.Model, f(ctx)); failed != nil && errors.Is(err, context.DeadlineExceeded) {
			err = failed // the server took the time; the model did not have its own
		}
		if err == nil || !errors.Is(err, ErrInfra) || try == maxRetries || ctx.Err() != nil {
			break
		}
		pause := time.Duration(100<<try) * time.Millisecond
		pause += time.Duration(rand.Int64N(int64(pause) / 2)) // jitter only; nothing that is scored depends on it
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			rec.Timing.Total = r.client.now().Sub(began)
			if errors.Is(ctx.Err(), context.Canceled) {
				return classify(ctx, "ask "+rec.Model, ctx.Err())
			}
			return err // the server failed; the model had no time-out
		case <-t.C:
			rec.Retries++
		}
	}
	rec.Timing.Total = r.client.now().Sub(began)
	return err
}

// finish derives queue time, cold loads and prefix reuse. A prefill that takes
// less than a quarter of the route's own median a token was served from a
// cached prefix.
func (r *Router) finish(rec *contract.CallRecord) {
	t := &rec.Timing
	if q := t.Total - t.Load - t.Prefill - t.Decode; q > 0 {
		t.Queue = q
	}
	rec.Cold = t.Load >= coldLoad
	if rec.Kind != contract.CallGenerate || rec.PromptTokens < 64 || t.Prefill <= 0 {
		return
	}
	perToken := float64(t.Prefill) / float64(rec.PromptTokens)
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.prefill[rec.Profile]
	if len(seen) >= 3 && perToken < median(seen)/4 {
		rec.Reused = true
		return
	}
	if len(seen) < 64 {
		r.prefill[rec.Profile] = append(seen, perToken)
	}
}

func setError(rec *contract.CallRecord, err error) {
	if err == nil {
		return
	}
	rec.Error = clip(err.Error())
	switch {
	case errors.Is(err, context.Canceled):
		rec.ErrorKind = "cancelled"
	case errors.Is(err, ErrTruncated):
		rec.ErrorKind = "truncated"
	case errors.Is(err, ErrModel):
		rec.ErrorKind = "model"
	default:
		rec.ErrorKind = "infra"
	}
}

func logprobs(in []api.Logprob) []contract.TokenLogprobs {
	if len(in) == 0 {
		return nil
	}
	out := make([]contract.TokenLogprobs, len(in))
	for i, p := range in {
		out[i] = contract.TokenLogprobs{Token: p.Token, Logprob: p.Logprob}
		for _, a := range p.TopLogprobs {
			out[i].Top = append(out[i].Top, contract.TokenLogprob{Token: a.Token, Logprob: a.Logprob})
		}
	}
	return out
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[len(s)/2]
}

func sumHex(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// TagOf normalises a model tag the way the server lists it.
func TagOf(model string) string {
	if strings.Contains(model, ":") {
		return model
	}
	return model + ":latest"
}

// Options are the options that every call of profile p sends, as recorded.
func (r *Router) Options(p contract.Profile) map[string]any {
	m := r.spec.Profiles[p]
	o := options(m.Options, m.Options.NumPredict)
	o["keep_alive"], o["think"] = m.Options.KeepAlive.String(), m.Options.Think
	return o
}
