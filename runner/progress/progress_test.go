package progress

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a hand-driven clock.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func TestPlain(t *testing.T) {
	c := &clock{at: time.Unix(1_000_000, 0)}
	var out bytes.Buffer
	task := Plain(&out, time.Minute, c.now).Start("weights", 98_000_000, Bytes)
	task.Add(1_000_000) // too early for a line
	c.advance(60 * time.Second)
	task.Add(23_500_000) // a quarter in a minute
	c.advance(time.Second)
	task.Note("unpacking") // too early again
	c.advance(59 * time.Second)
	task.Add(24_500_000)
	task.Done(nil)
	task.Add(1)
	task.Done(nil)
	want := `weights: 98.0 MB
weights: 25 %, 3m00s left, 24.5/98.0 MB, 408.3 kB/s
weights: 50 %, 2m00s left, 49.0/98.0 MB, 408.3 kB/s – unpacking
weights: done in 2m00s (49.0/98.0 MB)
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPlainEstimate(t *testing.T) {
	c := &clock{at: time.Unix(0, 0)}
	var out bytes.Buffer
	task := Plain(&out, 30*time.Second, c.now).Start("building", 120, Seconds)
	c.advance(30 * time.Second)
	task.Note("compiling")
	c.advance(200 * time.Second)
	task.Note("linking")
	task.Done(errors.New("no disk"))
	want := `building: about 2m00s
building: 25 %, 1m30s left – compiling
building: 99 %, longer than the estimate – linking
building: failed in 3m50s
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestUnknownTotal(t *testing.T) {
	c := &clock{at: time.Unix(0, 0)}
	var out bytes.Buffer
	task := Plain(&out, time.Second, c.now).Start("cases", 0, Items)
	c.advance(2 * time.Second)
	task.Add(3)
	task.Done(nil)
	if got, want := out.String(), "cases\ncases: 2s, 3, 1.5/s\ncases: done in 2s (3)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFormat(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 98_000_000: "98.0 MB", 2_500_000_000: "2.5 GB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", 59 * time.Second: "59s", 125 * time.Second: "2m05s", 3840 * time.Second: "1h04m"} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"a\nb", 9, "a b"}, {"abc", 1, "…"}, {"abc", 0, ""}} {
		if got := cut(c.in, c.width); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// Every line a terminal sees must fit, or redrawing in place breaks.
func TestTerminalFits(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		var out bytes.Buffer
		r := Terminal(&out, width)
		a := r.Start("a rather long name of a task that goes on", 1000, Bytes)
		b := r.Start("estimate", 60, Seconds)
		a.Add(500)
		a.Note(strings.Repeat("status ", 30))
		time.Sleep(3 * redrawEvery)
		b.Done(errors.New("x"))
		a.Add(500)
		a.Done(nil)
		text := out.String()
		for _, want := range []string{"50 %", "done in", "failed after", "\x1b[2A"} {
			if width >= 80 && !strings.Contains(text, want) {
				t.Errorf("width %d: %q is missing in %q", width, want, text)
			}
		}
		for _, line := range strings.Split(escape.Replace(text), "\n") {
			if n := utf8.RuneCountInString(strings.TrimRight(line, " ")); n > width {
				t.Errorf("width %d: %d columns: %q", width, n, line)
			}
		}
	}
}

var escape = strings.NewReplacer("\x1b[J", "", "\x1b[1A", "", "\x1b[2A", "", "\x1b[3A", "", "\x1b[0J", "", "\r", "")

func TestTerminalReuse(t *testing.T) {
	var out bytes.Buffer
	r := Terminal(&out, 0)
	for range 3 {
		task := r.Start("again", 2, Steps)
		task.Add(2)
		task.Done(nil)
		task.Done(nil)
	}
	if got := strings.Count(out.String(), "done in"); got < 3 {
		t.Errorf("%d tasks shown as done, want 3: %q", got, out.String())
	}
}

func TestChoose(t *testing.T) {
	var out bytes.Buffer
	if _, ok := Choose(nil, true, false, 80).(discard); !ok {
		t.Error("without a writer nothing is shown")
	}
	if _, ok := Choose(&out, true, true, 80).(*plain); !ok {
		t.Error("--no-progress gets lines")
	}
	if _, ok := Choose(&out, true, false, 80).(*terminal); !ok {
		t.Error("a terminal gets bars")
	}
	if _, ok := Choose(&out, false, false, 80).(*plain); !ok {
		t.Error("everything else gets lines")
	}
}

func TestReader(t *testing.T) {
	c := &clock{}
	var out bytes.Buffer
	task := Plain(&out, time.Hour, c.now).Start("read", 4, Bytes)
	if _, err := io.Copy(io.Discard, Reader(strings.NewReader("abcd"), task)); err != nil {
		t.Fatal(err)
	}
	task.Done(nil)
	if !strings.Contains(out.String(), "(4/4 B)") {
		t.Error(out.String())
	}
}
