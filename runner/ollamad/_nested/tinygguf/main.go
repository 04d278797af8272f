// Command tinygguf writes a random two-layer llama model of about half a
// megabyte. Its text is noise, but a real server loads it in well under a
// second and constrains it by a JSON Schema, which is what tests need.
//
//	tinygguf OUT.gguf
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/ollama/ollama/fs/ggml"
)

// Shape of the model. The vocabulary is every byte, three control tokens and
// padding up to a round number.
const (
	embedding   = 64
	feedForward = 128
	heads       = 4
	layers      = 2
	context     = 8192
	vocabulary  = 320
)

// Token types of the GGUF tokenizer section.
const (
	normal  = int32(1)
	control = int32(3)
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tinygguf OUT.gguf")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "tinygguf:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := ggml.WriteGGUF(f, metadata(), tensors(rand.New(rand.NewPCG(1, 2)))); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func metadata() ggml.KV {
	tokens, types := vocab()
	return ggml.KV{
		"general.architecture":                   "llama",
		"general.name":                           "tiny",
		"general.file_type":                      uint32(0),
		"llama.block_count":                      uint32(layers),
		"llama.context_length":                   uint32(context),
		"llama.embedding_length":                 uint32(embedding),
		"llama.feed_forward_length":              uint32(feedForward),
		"llama.attention.head_count":             uint32(heads),
		"llama.attention.head_count_kv":          uint32(heads),
		"llama.attention.layer_norm_rms_epsilon": float32(1e-5),
		"llama.rope.dimension_count":             uint32(embedding / heads),
		"llama.rope.freq_base":                   float32(10000),
		"llama.vocab_size":                       uint32(len(tokens)),
		"tokenizer.ggml.model":                   "gpt2",
		"tokenizer.ggml.pre":                     "smollm",
		"tokenizer.ggml.tokens":                  tokens,
		"tokenizer.ggml.token_type":              types,
		"tokenizer.ggml.merges":                  []string{"a b"},
		"tokenizer.ggml.bos_token_id":            uint32(256),
		"tokenizer.ggml.eos_token_id":            uint32(258),
		"tokenizer.ggml.add_bos_token":           false,
	}
}

// vocab lists the byte-level BPE alphabet of GPT-2: printable bytes stand for
// themselves, the others for the code points from 256 on.
func vocab() (tokens []string, types []int32) {
	add := func(token string, kind int32) {
		tokens = append(tokens, token)
		types = append(types, kind)
	}
	next := rune(256)
	for b := rune(0); b < 256; b++ {
		printable := b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE
		if printable {
			add(string(b), normal)
			continue
		}
		add(string(next), normal)
		next++
	}
	for _, token := range []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"} {
		add(token, control)
	}
	for len(tokens) < vocabulary {
		add(fmt.Sprintf("<|pad%d|>", len(tokens)), control)
	}
	return tokens, types
}

func tensors(r *rand.Rand) []*ggml.Tensor {
	var all []*ggml.Tensor
	add := func(name string, fill func() float32, shape ...uint64) {
		n := uint64(1)
		for _, side := range shape {
			n *= side
		}
		data := make(weights, n)
		for i := range data {
			data[i] = fill()
		}
		all = append(all, &ggml.Tensor{Name: name, Shape: shape, WriterTo: data})
	}
	one := func() float32 { return 1 }
	noise := func() float32 { return float32(r.NormFloat64() * 0.08) }

	add("token_embd.weight", noise, embedding, vocabulary)
	add("output.weight", noise, embedding, vocabulary)
	add("output_norm.weight", one, embedding)
	for layer := range layers {
		prefix := fmt.Sprintf("blk.%d.", layer)
		add(prefix+"attn_norm.weight", one, embedding)
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			add(prefix+name+".weight", noise, embedding, embedding)
		}
		add(prefix+"ffn_norm.weight", one, embedding)
		add(prefix+"ffn_gate.weight", noise, embedding, feedForward)
		add(prefix+"ffn_up.weight", noise, embedding, feedForward)
		add(prefix+"ffn_down.weight", noise, feedForward, embedding)
	}
	return all
}

// weights is tensor data of kind F32.
type weights []float32

func (w weights) WriteTo(out io.Writer) (int64, error) {
	err := binary.Write(out, binary.LittleEndian, []float32(w))
	return int64(4 * len(w)), err
}
