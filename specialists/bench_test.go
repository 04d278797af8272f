package specialists_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fabriccore/assay/specialists/contract"
)

// BenchmarkDoor measures the whole door over a specialist and a model that
// answer at once: gateway, orchestrator, schemas, digest and receipts. Beside
// the wall clock it reports the percentiles of the processor time of one
// request, the collector's share included: that is what a request takes on a
// quiet core, and a busy machine distorts it least. With -cpu 1 nothing of a
// request runs beside it.
func BenchmarkDoor(b *testing.B) {
	d := door(b, parts(&fakeModel{tokens: 10}))
	raw, err := contract.Encode(request())
	if err != nil {
		b.Fatal(err)
	}
	wall, cpu := make([]time.Duration, 0, 1<<16), make([]time.Duration, 0, 1<<16)
	b.ReportAllocs()
	begin := processorTime(b)
	for b.Loop() {
		start, used := time.Now(), processorTime(b)
		d.Request(context.Background(), raw)
		wall, cpu = append(wall, time.Since(start)), append(cpu, processorTime(b)-used)
	}
	micros := func(d time.Duration, name string) { b.ReportMetric(float64(d.Nanoseconds())/1e3, name) }
	micros((processorTime(b)-begin)/time.Duration(b.N), "cpu-µs/op")
	slices.Sort(wall)
	slices.Sort(cpu)
	micros(rank(wall, 50), "p50-µs")
	micros(rank(wall, 99), "p99-µs")
	micros(rank(cpu, 50), "cpu-p50-µs")
	micros(rank(cpu, 99), "cpu-p99-µs")
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// rank is the nearest-rank percentile of sorted durations.
func rank(sorted []time.Duration, p int) time.Duration {
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}
