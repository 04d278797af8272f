// Command convert turns a folder with safetensors weights and a tokenizer into
// one GGUF file. It exists because `ollama create` refuses folders with
// sentence-transformers side files that the converter itself accepts.
//
//	convert DIR OUT.gguf
package main

import (
	"fmt"
	"os"

	"github.com/ollama/ollama/convert"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: convert DIR OUT.gguf")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "convert:", err)
		os.Exit(1)
	}
}

func run(dir, out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := convert.ConvertModel(os.DirFS(dir), f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
