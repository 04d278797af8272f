package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fabriccore/assay/runner"
)

// H-014: the first signal asks for an orderly stop, the second gives up on what
// is in flight, and from then on a signal is nobody's but the system's.
func TestH014Interrupts(t *testing.T) {
	signals, stops := make(chan os.Signal, 2), make(chan struct{}, 4)
	var errw bytes.Buffer
	st := &state{Stderr: &errw, Listen: func() (<-chan os.Signal, func()) {
		return signals, func() { stops <- struct{}{} }
	}}
	ctx, abort, cancel := st.interruptible()
	signals <- syscall.SIGHUP
	arrives(t, ctx.Done())
	select {
	case <-abort:
		t.Fatal("one signal gave up on what is in flight")
	case <-stops:
		t.Fatal("the second signal would end the process")
	default:
	}
	signals <- os.Interrupt
	arrives(t, abort)
	arrives(t, stops)
	cancel()
	if got := errw.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "stopping") {
		t.Errorf("%q", got)
	}
	ctx, cancel = st.background()
	signals <- os.Interrupt
	arrives(t, ctx.Done())
	cancel()
}

// H-014: closing the terminal is a signal that asks for an orderly stop, and a
// command that has nothing to keep does not take signals over.
func TestH014ClosedTerminal(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("started with SIGHUP ignored, as under nohup: then it stays so")
	}
	signals, stop := listen()
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	select {
	case s := <-signals:
		if s != syscall.SIGHUP {
			t.Errorf("got %v", s)
		}
	case <-time.After(5 * time.Second):
		t.Error("no signal came")
	}
}

func arrives[T any](t *testing.T, c <-chan T) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(5 * time.Second):
		t.Fatal("nothing came")
	}
}

// a disk that is full is infrastructure, whatever was being written; a
// folder that can't be written too.
func TestQ42DiskCodes(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("write report.html: %w", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}),
		fmt.Errorf("record the look: %w", runner.ErrFolder), &os.PathError{Op: "mkdir", Path: "x", Err: syscall.EROFS},
	} {
		if got := exitCode(err); got != exitInfra {
			t.Errorf("%v: code %d", err, got)
		}
	}
	if got := exitCode(errors.Join(context.Canceled, syscall.ENOSPC)); got != exitInterrupted {
		t.Errorf("code %d", got)
	}
}
