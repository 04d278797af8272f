package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
)

// meter is the model that a specialist gets: it counts calls and tokens
// against the request's budgets, records every call, and refuses the first
// call that a budget does not allow and all after it (F-034).
type meter struct {
	base    contract.Model
	run     *run
	def     contract.CoreAgentDefinition
	ctx     context.Context // the request's; it ends calls made under another one
	tokens  int             // bound
	latency time.Time       // calls must start and end before it

	mu       sync.Mutex
	calls    int
	gen      int
	spent    int
	breach   string
	lastFail contract.ReasonCode
	closed   bool
}

func newMeter(ctx context.Context, r *run, def contract.CoreAgentDefinition) *meter {
	lat := time.Duration(min(r.a.Budget.LatencyMS, def.LatencyMSBudget)) * time.Millisecond
	if whole := time.Duration(r.a.Budget.TimeoutMS) * time.Millisecond; lat >= whole {
		lat = whole + time.Hour // the time-out speaks first
	}
	return &meter{
		base: r.p.Model, run: r, def: def, ctx: ctx,
		tokens:  min(r.a.Budget.Tokens, def.TokenBudget),
		latency: r.a.Start.Add(lat),
	}
}

// Has reports whether the definition allows the profile and the route maps it.
func (m *meter) Has(p contract.Profile) bool {
	return m.base != nil && p != contract.ProfileNoModel && slices.Contains(m.def.ModelRoutingPolicy.Profiles, p) &&
		m.run.p.ModelsEnabled() && m.base.Has(p)
}

// Generate asks a generative profile.
func (m *meter) Generate(ctx context.Context, q contract.GenerateRequest) (contract.GenerateResult, error) {
	ctx, done, err := m.begin(ctx, q.Profile, contract.CallGenerate)
	if err != nil {
		return contract.GenerateResult{}, err
	}
	defer done()
	if left := m.left(); q.NumPredict > left {
		q.NumPredict = left
	}
	start := m.run.p.Now()
	res, err := m.base.Generate(ctx, q)
	err = m.end(&res.Call, contract.CallGenerate, q.Profile, m.run.p.Now().Sub(start), ctx, err)
	return res, err
}

// Embed asks an embedding profile.
func (m *meter) Embed(ctx context.Context, q contract.EmbedRequest) (contract.EmbedResult, error) {
	ctx, done, err := m.begin(ctx, q.Profile, contract.CallEmbed)
	if err != nil {
		return contract.EmbedResult{}, err
	}
	defer done()
	start := m.run.p.Now()
	res, err := m.base.Embed(ctx, q)
	err = m.end(&res.Call, contract.CallEmbed, q.Profile, m.run.p.Now().Sub(start), ctx, err)
	return res, err
}

// begin admits a call or says which budget forbids it.
func (m *meter) begin(ctx context.Context, p contract.Profile, k contract.CallKind) (context.Context, func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed || m.ctx.Err() != nil:
		return nil, nil, fmt.Errorf("model call after the end of the request: %w", context.Canceled)
	case !m.run.p.ModelsEnabled():
		m.lastFail = contract.ReasonModelsDisabled
		return nil, nil, fmt.Errorf("model call: %w", contract.ErrModelsDisabled)
	case m.base == nil || !slices.Contains(m.def.ModelRoutingPolicy.Profiles, p) || p == contract.ProfileNoModel:
		return nil, nil, &contract.Fault{Reason: contract.ReasonModelError, Err: fmt.Errorf("profile %q is not one of %s", p, m.def.ID)}
	case m.breach != "":
	case m.calls >= m.def.ModelRoutingPolicy.MaxModelCalls:
		m.breach = "model calls"
	case k == contract.CallGenerate && m.gen >= m.def.ModelRoutingPolicy.MaxGenerativeCalls:
		m.breach = "generative calls"
	case m.spent >= m.tokens:
		m.breach = "tokens"
	case !m.run.p.Now().Before(m.latency):
		m.breach = "latency"
	}
	if m.breach != "" {
		return nil, nil, fmt.Errorf("model call: %s: %w", m.breach, contract.ErrBudget)
	}
	m.calls++
	if k == contract.CallGenerate {
		m.gen++
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(m.ctx, cancel)
	late := time.AfterFunc(m.latency.Sub(m.run.p.Now()), func() {
		m.mu.Lock()
		if m.breach == "" && !m.closed {
			m.breach = "latency"
		}
		m.mu.Unlock()
		cancel()
	})
	return ctx, func() { late.Stop(); stop(); cancel() }, nil
}

// end books a finished call; the caller's record is completed in place.
func (m *meter) end(c *contract.CallRecord, k contract.CallKind, p contract.Profile, took time.Duration, ctx context.Context, err error) error {
	c.Kind, c.Profile = k, p
	if c.Timing.Total == 0 {
		c.Timing.Total = max(0, took-c.Timing.Wait)
	}
	m.mu.Lock()
	m.spent += max(0, c.PromptTokens) + max(0, c.OutputTokens)
	if m.spent > m.tokens && m.breach == "" {
		m.breach = "tokens"
	}
	if err != nil {
		if c.Error == "" {
			c.Error = err.Error()
		}
		if c.ErrorKind == "" {
			c.ErrorKind = "model"
			if ctx.Err() != nil {
				c.ErrorKind = "cancelled"
			}
		}
		m.lastFail = map[string]contract.ReasonCode{
			"infra": contract.ReasonInfraError, "truncated": contract.ReasonTruncated, "cancelled": contract.ReasonCancelled,
		}[c.ErrorKind]
		if m.breach == "latency" {
			err = fmt.Errorf("model call: latency: %w", contract.ErrBudget)
		}
	}
	closed := m.closed
	m.mu.Unlock()
	if !closed {
		m.run.book.Call(*c)
	}
	return err
}

func (m *meter) left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tokens - m.spent
}

// close ends the specialist's use of the model.
func (m *meter) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
}

func (m *meter) used() (calls, tokens int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls, m.spent
}

// breached names the budget that was exceeded, or "".
func (m *meter) breached() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.breach
}

// failure is the reason of the last failed call, for an error that names none.
func (m *meter) failure() contract.ReasonCode {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lastFail == "" {
		return contract.ReasonModelError
	}
	return m.lastFail
}
