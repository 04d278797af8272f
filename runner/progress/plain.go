package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Plain returns a reporter that prints whole lines: one when a task starts, at
// most one per interval while it runs, one when it ends. now is the clock. A
// line is printed at the interval even when nothing advances, so that a CI log
// never looks dead.
func Plain(w io.Writer, every time.Duration, now func() time.Time) Reporter {
	return &plain{w: w, every: every, now: now}
}

type plain struct {
	every time.Duration
	now   func() time.Time

	mu sync.Mutex
	w  io.Writer
}

func (p *plain) Start(name string, total int64, unit Unit) Task {
	t := &plainTask{state: newState(name, total, unit, p.now), to: p, stop: make(chan struct{})}
	t.last = t.began
	opening := name
	if total > 0 {
		switch unit {
		case Seconds:
			opening += ": about " + span(time.Duration(total)*time.Second)
		case Bytes:
			opening += ": " + size(total)
		default:
			opening += fmt.Sprintf(": %d", total)
		}
	}
	p.print(opening)
	if p.every > 0 {
		go t.tick(p.every)
	}
	return t
}

func (p *plain) print(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.w, line)
}

type plainTask struct {
	*state
	to   *plain
	stop chan struct{}

	lineMu sync.Mutex
	last   time.Time
}

func (t *plainTask) Add(n int64) {
	if t.add(n) {
		t.show()
	}
}

func (t *plainTask) Note(text string) {
	if t.setNote(text) {
		t.show()
	}
}

func (t *plainTask) Done(err error) {
	if !t.finish() {
		return
	}
	close(t.stop)
	v := t.view()
	outcome := "done"
	if err != nil {
		outcome = "failed"
	}
	line := fmt.Sprintf("%s: %s in %s", v.name, outcome, span(v.elapsed))
	if amount := v.outcome(); amount != "" {
		line += " (" + amount + ")"
	}
	t.to.print(line)
}

func (t *plainTask) tick(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-ticker.C:
			t.show()
		}
	}
}

// show prints a line if the interval has passed since the last one.
func (t *plainTask) show() {
	t.lineMu.Lock()
	now := t.now()
	due := now.Sub(t.last) >= t.to.every
	if due {
		t.last = now
	}
	t.lineMu.Unlock()
	if due {
		t.to.print(t.view().line())
	}
}

func (v view) line() string {
	parts := []string{}
	if p, ok := v.percent(); ok {
		parts = append(parts, fmt.Sprintf("%d %%", p))
	}
	if figures := v.figures(); figures != "" {
		parts = append(parts, figures)
	}
	line := v.name + ": " + strings.Join(parts, ", ")
	if v.note != "" {
		line += " – " + cut(v.note, 120)
	}
	return line
}
