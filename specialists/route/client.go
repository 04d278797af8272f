package route

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"golang.org/x/sync/semaphore"
)

// Errors of a model call. Every error that a Router returns wraps one of them.
var (
	// ErrInfra is a failure of the way to the model: the server is not there,
	// resets the connection, answers 5xx or does not know the model. It is
	// never a wrong answer.
	ErrInfra = errors.New("infrastructure error")
	// ErrModel is a failure of the model on a healthy server: it took longer
	// than its time-out or answered nothing usable.
	ErrModel = errors.New("model error")
	// ErrTruncated is a prompt that does not fit num_ctx or an answer that
	// was cut at num_predict.
	ErrTruncated = errors.New("truncated")
	// ErrNoProfile is a profile that the route maps to no model.
	ErrNoProfile = errors.New("profile has no model on this route")
)

// Client speaks to one Ollama host through one connection pool and lets at
// most a fixed number of calls be in flight (H-015).
type Client struct {
	base  *url.URL
	api   *api.Client
	http  *http.Client
	slots *semaphore.Weighted
	now   func() time.Time
}

// NewClient makes a client for the server at base, e.g. "http://127.0.0.1:11434".
// inFlight below 1 counts as 1. now is the clock of every timing.
func NewClient(base string, inFlight int, now func() time.Time) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		if strings.Contains(base, "@") { // it may hold a password
			base = "…"
		}
		return nil, fmt.Errorf("ollama address %q is not a URL: give it as http://HOST:PORT", base)
	}
	u.RawQuery, u.Fragment = "", ""
	if inFlight < 1 {
		inFlight = 1
	}
	tr := &http.Transport{
		Proxy:               nil, // a local route never goes through a proxy
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConns:        inFlight + 2,
		MaxIdleConnsPerHost: inFlight + 2,
		MaxConnsPerHost:     inFlight + 2,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,
		WriteBufferSize:     64 << 10,
		ReadBufferSize:      64 << 10,
	}
	// A redirect could lead off the host; it is an answer like any other.
	hc := &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Client{base: u, api: api.NewClient(u, hc), http: hc, slots: semaphore.NewWeighted(int64(inFlight)), now: now}, nil
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ModelInfo is what the server says of one model.
type ModelInfo struct {
	Tag            string
	Digest         string // hex SHA-256 of the manifest
	TemplateSHA256 string

	remote bool // the server passes its calls on to another host
}

// Version asks the server's version.
func (c *Client) Version(ctx context.Context) (string, error) {
	v, err := c.api.Version(ctx)
	if err != nil {
		return "", classify(ctx, "ask the server's version", err)
	}
	return v, nil
}

// Models lists the models on the server by tag.
func (c *Client) Models(ctx context.Context) (map[string]ModelInfo, error) {
	l, err := c.api.List(ctx)
	if err != nil {
		return nil, classify(ctx, "list the server's models", err)
	}
	m := make(map[string]ModelInfo, len(l.Models))
	for _, x := range l.Models {
		m[x.Model] = ModelInfo{Tag: x.Model, Digest: x.Digest, remote: x.RemoteHost != "" || x.RemoteModel != ""}
	}
	return m, nil
}

// Describe reads one model's digest and template. A missing model is ErrInfra
// with the command that gets it.
func (c *Client) Describe(ctx context.Context, tag string) (ModelInfo, error) {
	all, err := c.Models(ctx)
	if err != nil {
		return ModelInfo{}, err
	}
	info, ok := all[tag]
	if !ok {
		info, ok = all[tag+":latest"]
	}
	if !ok {
		return ModelInfo{}, fmt.Errorf("model %q is not on the server at %s: get it with 'assay models pull %s': %w", tag, c.base.Redacted(), tag, ErrInfra)
	}
	if info.remote {
		return ModelInfo{}, fmt.Errorf("model %q is served by another host: name a model that the server at %s runs itself: %w", tag, c.base.Redacted(), ErrInfra)
	}
	s, err := c.api.Show(ctx, &api.ShowRequest{Model: tag})
	if err != nil {
		return ModelInfo{}, classify(ctx, "read model "+tag, err)
	}
	info.TemplateSHA256 = sumHex([]byte(s.Template))
	return info, nil
}

// LoadedContext reads back the context length with which a model is loaded;
// 0 when the server does not say.
func (c *Client) LoadedContext(ctx context.Context, tag string) (int, error) {
	p, err := c.api.ListRunning(ctx)
	if err != nil {
		return 0, classify(ctx, "list the loaded models", err)
	}
	for _, m := range p.Models {
		if m.Model == tag || m.Model == tag+":latest" {
			return m.ContextLength, nil
		}
	}
	return 0, nil
}

// classify sorts an error of the client into ErrInfra, ErrModel or
// ErrTruncated, with a text on one line that names no address. A passed
// deadline is the model's: the caller checks apart whether the server is
// alive.
func classify(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if cerr := ctx.Err(); cerr != nil {
		if errors.Is(cerr, context.Canceled) {
			return fmt.Errorf("%s: %w", what, context.Canceled)
		}
		return fmt.Errorf("%s: no answer within the time-out: %w: %w", what, ErrModel, context.DeadlineExceeded)
	}
	for _, known := range []error{ErrInfra, ErrModel, ErrTruncated} {
		if errors.Is(err, known) {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	var se api.StatusError
	if errors.As(err, &se) {
		if tooLong(se.ErrorMessage) {
			return fmt.Errorf("%s: prompt does not fit the context: %w", what, ErrTruncated)
		}
		switch se.StatusCode { // the call itself, not the way to the model
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
			return fmt.Errorf("%s: server refused the call (%d): %s: %w", what, se.StatusCode, clip(se.ErrorMessage), ErrModel)
		}
		return fmt.Errorf("%s: server answered %d: %s: %w", what, se.StatusCode, clip(se.ErrorMessage), ErrInfra)
	}
	var syn *json.SyntaxError
	var typ *json.UnmarshalTypeError
	if errors.As(err, &syn) || errors.As(err, &typ) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: server sent no valid answer: %s: %w", what, clip(err.Error()), ErrInfra)
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err // without the address, which may hold a password
	}
	return fmt.Errorf("%s: %s: %w", what, clip(err.Error()), ErrInfra)
}

// tooLong knows the server's words for a prompt that num_ctx does not hold.
func tooLong(msg string) bool {
	return strings.Contains(msg, "context length") || strings.Contains(msg, "context size")
}

// clip brings a message of the server's to one line of at most 200 bytes.
func clip(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s[:min(len(s), 4096)], "?")), " ")
	if len(s) > 200 {
		return strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
