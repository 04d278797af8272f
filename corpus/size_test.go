package corpus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
)

// BenchmarkLoad verifies, decodes and joins a frozen corpus of 10,000 cases.
func BenchmarkLoad(b *testing.B) {
	dir := tiny(b)
	var cases, labels strings.Builder
	for i := range 10000 {
		id := fmt.Sprintf("c%05d", i)
		cases.WriteString(line(b, tinyCase(id)))
		labels.WriteString(line(b, tinyLabel(id)))
	}
	put(b, dir, "cases.jsonl", cases.String())
	put(b, dir, "labels.jsonl", labels.String())
	put(b, dir, "corpus.yaml", strings.Replace(meta, "human: 2", "human: 10000", 1))
	freeze(b, dir)
	b.ReportAllocs()
	for b.Loop() {
		c, err := corpus.Load(dir)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := label.Load("", c); err != nil {
			b.Fatal(err)
		}
	}
}
