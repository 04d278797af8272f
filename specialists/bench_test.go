package specialists_test

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
)

// BenchmarkDoor measures the whole door over a specialist and a model that
// answer at once: gateway, orchestrator, schemas, digest and receipts. Beside
// the wall clock it reports the processor time, which a busy machine does not
// distort.
func BenchmarkDoor(b *testing.B) {
	d := door(b, parts(&fakeModel{tokens: 10}))
	raw, err := contract.Encode(request())
	if err != nil {
		b.Fatal(err)
	}
	took := make([]time.Duration, 0, 1<<16)
	b.ReportAllocs()
	cpu := processorTime(b)
	for b.Loop() {
		start := time.Now()
		d.Request(context.Background(), raw)
		took = append(took, time.Since(start))
	}
	b.ReportMetric(float64((processorTime(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/op")
	slices.Sort(took)
	b.ReportMetric(float64(rank(took, 50).Microseconds()), "p50-µs")
	b.ReportMetric(float64(rank(took, 99).Microseconds()), "p99-µs")
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rank is the nearest-rank percentile of sorted durations.
func rank(sorted []time.Duration, p int) time.Duration {
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}
