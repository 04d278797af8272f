package route

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/ollama/ollama/api"
)

// maxAnswer bounds the body of an answer, in bytes: several times what the
// longest answer with all its log-probabilities needs.
const maxAnswer = 8 << 20

// post sends body and reads the whole answer, also of an error. It stands in
// for the calls of package api because those take an 8 MB buffer for every
// chat, do not bound an embedding's answer and take a connection that breaks
// for an answer that ends.
func (c *Client) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		e := api.StatusError{StatusCode: resp.StatusCode}
		if json.Unmarshal(raw, &e) != nil || e.ErrorMessage == "" {
			e.ErrorMessage = string(raw[:min(len(raw), 1024)])
		}
		return nil, e
	}
	if len(raw) > maxAnswer {
		return nil, fmt.Errorf("the answer is longer than %d MiB: %w", maxAnswer>>20, ErrModel)
	}
	return raw, nil
}

// chat asks for one answer. A server that streams in spite of stream:false has
// its parts joined.
func (c *Client) chat(ctx context.Context, body []byte) (api.ChatResponse, []byte, error) {
	raw, err := c.post(ctx, "/api/chat", body)
	if err != nil {
		return api.ChatResponse{}, nil, err
	}
	var out api.ChatResponse
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		var part struct {
			api.ChatResponse
			Error string `json:"error"`
		}
		if err := d.Decode(&part); err != nil {
			if !errors.Is(err, io.EOF) {
				return out, raw, err
			}
			break
		}
		if part.Error != "" {
			return out, raw, errors.New(part.Error)
		}
		part.Message.Content = out.Message.Content + part.Message.Content
		part.Logprobs = append(out.Logprobs, part.Logprobs...)
		out = part.ChatResponse
	}
	if !out.Done && out.Message.Content != "" {
		// A whole body with an unfinished answer: Ollama stops a model that
		// repeats one token more than thirty times and says so only like this.
		return out, raw, fmt.Errorf("the server ended the answer after %d characters, before it was done, as it does with a model that repeats itself: %w", len(out.Message.Content), ErrModel)
	}
	if !out.Done {
		return out, raw, errors.New("the answer broke off")
	}
	return out, raw, nil
}

// embed asks for want unit vectors.
func (c *Client) embed(ctx context.Context, body []byte, want int) (api.EmbedResponse, error) {
	raw, err := c.post(ctx, "/api/embed", body)
	if err != nil {
		return api.EmbedResponse{}, err
	}
	var out struct {
		api.EmbedResponse
		Error string `json:"error"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return api.EmbedResponse{}, err
	}
	if out.Error != "" {
		return api.EmbedResponse{}, errors.New(out.Error)
	}
	return out.EmbedResponse, checkVectors(out.Embeddings, want)
}

// checkVectors wants as many vectors as texts, all of one length, finite and
// of unit length: the ranking takes a product for a cosine.
func checkVectors(v [][]float32, want int) error {
	if len(v) != want {
		return fmt.Errorf("%d vectors for %d texts: %w", len(v), want, ErrInfra)
	}
	for _, x := range v {
		if len(x) == 0 || len(x) != len(v[0]) {
			return fmt.Errorf("vectors of unequal length: %w", ErrInfra)
		}
		var square float64
		for _, f := range x {
			square += float64(f) * float64(f)
		}
		// Not a number fails every comparison.
		if !(math.Abs(math.Sqrt(square)-1) < 0.01) {
			return fmt.Errorf("a vector is not of unit length: %w", ErrModel)
		}
	}
	return nil
}
