package runner

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists/contract"
)

// BenchmarkExecute measures the runner itself: a target that answers at once,
// with a transcript of a usual size, four in flight (design §9).
func BenchmarkExecute(b *testing.B) {
	prompt := []byte(strings.Repeat("The build failed because of one line in this log. ", 60))
	calls := []contract.CallRecord{{Kind: contract.CallGenerate, Request: prompt, Response: []byte(`{"class":"a"}`)}}
	f := &Fake{Reply: func(_ context.Context, c corpus.Case, _ int) Answer {
		req := append([]byte(c.ID), prompt...)
		return Answer{Trial: journal.Trial{Kind: journal.Answered, Class: "a"}, Request: req, Response: bytes.Clone(prompt[:200]), Calls: calls}
	}}
	cases := 5000
	for b.Loop() {
		cfg := testConfig(b, testPlan(b, cases, 1, 4), f, f)
		sum, err := Execute(context.Background(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(sum.Planned)/sum.Elapsed.Seconds(), "trials/s")
		size := int64(0)
		_ = filepath.WalkDir(sum.Dir, func(path string, d os.DirEntry, err error) error {
			if info, ierr := d.Info(); err == nil && ierr == nil && !d.IsDir() {
				size += info.Size()
			}
			return err
		})
		b.ReportMetric(float64(size)/float64(sum.Planned), "disk-B/trial")
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapSys)/1e6, "heap-MB")
	}
}

// BenchmarkExecute20ms measures what the runner adds to 1,000 trials on a
// 20 ms target with four in flight: the floor is 5.0 s (design §9).
func BenchmarkExecute20ms(b *testing.B) {
	f := &Fake{Latency: 20 * time.Millisecond}
	for b.Loop() {
		sum, err := Execute(context.Background(), testConfig(b, testPlan(b, 500, 1, 4), f, f))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(sum.Elapsed.Seconds()/5, "×floor")
	}
}
