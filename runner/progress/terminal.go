package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	defaultWidth = 80
	barWidth     = 12
	nameWidth    = 24
	redrawEvery  = 150 * time.Millisecond
)

// Terminal returns a reporter that draws one bar a task, redrawn in place and
// never wider than width columns (80 where width is not known).
func Terminal(w io.Writer, width int) Reporter {
	if width <= 0 {
		width = defaultWidth
	}
	return &terminal{w: w, width: width}
}

// terminal keeps one mpb container alive for as long as any task runs, so that
// callers need not close the reporter: the last Done flushes the screen.
type terminal struct {
	w     io.Writer
	width int

	mu    sync.Mutex
	bars  *mpb.Progress
	tasks int
}

func (t *terminal) Start(name string, total int64, unit Unit) Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bars == nil {
		// Left to itself, mpb asks the terminal for its size and shows nothing on
		// one that says 0×0, as pseudo-terminals of CI systems do.
		t.bars = mpb.New(mpb.WithOutput(onlyWriter{t.w}), mpb.WithWidth(t.width), mpb.WithRefreshRate(redrawEvery),
			mpb.ForceTTY(), mpb.ForceAutoRefresh())
	}
	t.tasks++
	task := &bar{state: newState(name, total, unit, time.Now), on: t}
	// The bar is driven by our own view; mpb only knows thousandths.
	task.bar = t.bars.New(thousandths, filler(task),
		mpb.BarWidth(barWidth),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return task.prefix() })),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return task.suffix(t.width) })),
	)
	return task
}

// release waits for the last drawing when no task is left.
func (t *terminal) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tasks--
	if t.tasks == 0 {
		t.bars.Wait()
		t.bars = nil
	}
}

// onlyWriter hides that a writer is a terminal.
type onlyWriter struct{ io.Writer }

const thousandths = 1000

type bar struct {
	*state
	on  *terminal
	bar *mpb.Bar

	failMu sync.Mutex
	failed bool
}

// filler draws the bar from the task's own view, because estimates advance
// without anybody calling Add.
func filler(t *bar) mpb.BarFillerBuilder {
	return mpb.BarFillerBuilder(builder(func(w io.Writer, s decor.Statistics) error {
		inner := min(barWidth, s.AvailableWidth) - 2
		if inner < 1 {
			return nil
		}
		full := 0
		v := t.view()
		if p, ok := v.percent(); ok {
			full = int(p) * inner / 100
		}
		if s.Completed {
			full = inner
		}
		_, err := io.WriteString(w, "["+strings.Repeat("=", full)+strings.Repeat("-", inner-full)+"]")
		return err
	}))
}

type builder mpb.BarFillerFunc

func (b builder) Build() mpb.BarFiller { return mpb.BarFillerFunc(b) }

func (t *bar) Add(n int64)      { t.add(n) }
func (t *bar) Note(text string) { t.setNote(text) }

func (t *bar) Done(err error) {
	if !t.finish() {
		return
	}
	if err != nil {
		t.failMu.Lock()
		t.failed = true
		t.failMu.Unlock()
		t.bar.Abort(false)
	} else {
		t.bar.SetCurrent(thousandths)
	}
	t.bar.Wait()
	t.on.release()
}

func (t *bar) prefix() string {
	width := min(nameWidth, max(12, t.on.width/3))
	return fmt.Sprintf("%-*s ", width, cut(t.name, width))
}

// suffix is everything right of the bar, cut to the room that is left.
func (t *bar) suffix(width int) string {
	v := t.view()
	text := ""
	t.state.mu.Lock()
	ended := t.ended
	t.state.mu.Unlock()
	t.failMu.Lock()
	failed := t.failed
	t.failMu.Unlock()
	switch {
	case failed:
		text = "failed after " + span(v.elapsed)
	case ended:
		text = "done in " + span(v.elapsed)
		if amount := v.outcome(); amount != "" {
			text += ", " + amount
		}
	default:
		if p, ok := v.percent(); ok {
			text = fmt.Sprintf("%3d %% ", p)
		}
		text += v.figures()
		if v.note != "" {
			text += " " + v.note
		}
	}
	room := width - len([]rune(t.prefix())) - barWidth - 2
	return cut(text, room)
}
