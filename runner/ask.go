package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/runner/progress"
)

// finishedTrial is a trial with its transcript, ready for the journal.
type finishedTrial struct {
	trial      journal.Trial
	transcript journal.Transcript
}

// askAll asks every trial that has no line yet, in plan order, with a bounded
// number in flight on each host (H-015). It returns nil when all are synced.
func (s *session) askAll(ctx context.Context) error {
	// In flight calls outlive an orderly stop, but not an abort.
	hard, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	if s.cfg.Abort != nil {
		go func() {
			select {
			case <-s.cfg.Abort:
				abort()
			case <-hard.Done():
			}
		}()
	}
	var deadline <-chan time.Time
	if s.cfg.Deadline > 0 {
		t := time.NewTimer(s.cfg.timeLeft())
		defer t.Stop()
		deadline = t.C
	}
	run := &asking{
		session: s, hard: hard, halt: make(chan struct{}), slots: map[string]chan struct{}{},
		task: s.cfg.Progress.Start("asking", int64(s.cfg.Plan.Len()-s.finished), progress.Items),
	}
	err := run.dispatch(ctx, deadline)
	run.inFlight.Wait()
	if err == nil && hard.Err() != nil {
		err = ErrInterrupted // the last trials were given up
	}
	run.release(err == nil && run.failed() == nil)
	run.unsynced.Wait()
	if f := run.failed(); f != nil {
		err = f
	}
	run.task.Done(err)
	return err
}

// asking is askAll's state.
type asking struct {
	*session
	hard  context.Context
	halt  chan struct{} // closed when a failure stops the run
	once  sync.Once
	slots map[string]chan struct{} // by host; the dispatcher's own
	task  progress.Task

	inFlight sync.WaitGroup // trials being asked
	unsynced sync.WaitGroup // trials whose line is on its way
}

// dispatch starts the trials one by one.
func (a *asking) dispatch(ctx context.Context, deadline <-chan time.Time) error {
	p := a.cfg.Plan
	for i := range p.Len() {
		if a.done.has(i) {
			continue
		}
		t := p.Trial(i)
		arm := p.Arms[t.Arm]
		slot := a.slot(a.cfg.HostOf(arm.Name))
		due := a.cfg.Now()
		// What has stopped the run wins over a free slot.
		select {
		case <-ctx.Done():
			return ErrInterrupted
		case <-a.hard.Done():
			return ErrInterrupted
		case <-deadline:
			return deadlineError(a.cfg.Deadline)
		case <-a.halt:
			return nil
		default:
		}
		select {
		case slot <- struct{}{}:
		case <-ctx.Done():
			return ErrInterrupted
		case <-a.hard.Done():
			return ErrInterrupted
		case <-deadline:
			return deadlineError(a.cfg.Deadline)
		case <-a.halt:
			return nil
		}
		wait := max(a.cfg.Now().Sub(due), 0)
		a.inFlight.Add(1)
		go func() {
			defer a.inFlight.Done()
			// The slot is held until the journal has taken the trial, so that a
			// slow disk slows the asking down instead of filling memory.
			defer func() { <-slot }()
			if done, down, ok := a.one(t, arm, wait); ok {
				a.settle(done, down)
			}
		}()
	}
	return nil
}

func deadlineError(d time.Duration) error { return fmt.Errorf("%w after %v", ErrDeadline, d) }

func (a *asking) slot(host string) chan struct{} {
	if a.slots[host] == nil {
		a.slots[host] = make(chan struct{}, max(a.cfg.Plan.Suite.InFlight, 1))
	}
	return a.slots[host]
}

// one asks one trial. It is not ok after an abort: the answer is no answer.
func (a *asking) one(t benchmarks.Trial, arm benchmarks.Arm, wait time.Duration) (done finishedTrial, down, ok bool) {
	started := a.cfg.Now()
	ans := ask(a.hard, a.cfg.Targets[arm.Name], *t.Case, t.Repeat, a.cfg.Plan.Suite.CallTimeout)
	elapsed := max(a.cfg.Now().Sub(started), 0)
	if a.hard.Err() != nil {
		return finishedTrial{}, false, false
	}
	tr := ans.Trial
	tr.Key, tr.Case, tr.CaseDigest, tr.Corpus, tr.Family = t.Key, t.Case.ID, t.CaseDigest, t.Corpus.Meta.Name, t.Case.Family
	tr.Arm, tr.ArmDigest, tr.Repeat, tr.Ordinal, tr.Started = arm.Name, arm.Digest, t.Repeat, t.Ordinal, started.UTC()
	if !known(tr.Kind) {
		tr.Error = fmt.Sprintf("the target gave no response kind but %q", tr.Kind)
		tr.Kind = journal.InfraError
	}
	tr.Timing.Wait += wait
	if tr.Timing.Total == 0 {
		tr.Timing.Total = elapsed
	}
	if tr.Calls == nil {
		tr.Calls = ans.Calls
	}
	out := finishedTrial{trial: tr, transcript: journal.Transcript{Key: t.Key, Request: ans.Request, Response: ans.Response}}
	if len(ans.Response) > 0 {
		sum := sha256.Sum256(ans.Response)
		out.trial.ResponseSHA256 = hex.EncodeToString(sum[:])
	}
	for _, c := range ans.Calls {
		out.transcript.Calls = append(out.transcript.Calls, journal.Exchange{Request: journal.Raw(c.Request), Response: journal.Raw(c.Response)})
	}
	return out, ans.InfraDown, true
}

func known(k journal.Kind) bool {
	for _, x := range journal.Kinds {
		if x == k {
			return true
		}
	}
	return false
}

// ask puts one case to a target and comes back whatever the target does: a
// panic and a target that outstays its time-out are infrastructure errors.
func ask(ctx context.Context, target Target, c corpus.Case, repeat int, limit time.Duration) Answer {
	if limit <= 0 {
		limit = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	came := make(chan Answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				came <- infra(fmt.Sprintf("the target panicked: %v", p))
			}
		}()
		came <- target.Ask(ctx, c, repeat)
	}()
	select {
	case a := <-came:
		return a
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case a := <-came:
		return a
	case <-late.C:
		a := infra(fmt.Sprintf("the target did not return within %v", limit))
		a.Trial.Timing.Censored = true
		a.InfraDown = true
		return a
	}
}

func infra(text string) Answer {
	text, _, _ = strings.Cut(text, "\n")
	return Answer{Trial: journal.Trial{Kind: journal.InfraError, Error: text}}
}

// settle sends a finished trial to the journal. Trials in a row that found no
// server are held back: if the server is back they are infrastructure errors;
// if it is not, the run stops and they are asked again on resume.
func (a *asking) settle(t finishedTrial, down bool) {
	a.mu.Lock()
	if down {
		a.held = append(a.held, t)
		n := len(a.held)
		a.mu.Unlock()
		if n >= a.cfg.infraLimit() {
			a.fail(fmt.Errorf("%w: %d trials in a row found no server: %s", ErrInfrastructure, n, orElse(t.trial.Error, "no reason given")))
		}
		return
	}
	a.mu.Unlock()
	a.release(a.failed() == nil)
	a.write(t)
}

// release writes or, if keep is false, drops the trials held back.
func (a *asking) release(keep bool) {
	a.mu.Lock()
	held := a.held
	a.held = nil
	a.mu.Unlock()
	if !keep {
		return
	}
	for _, t := range held {
		a.write(t)
	}
}

func orElse(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

// write hands one trial over; it counts when its line is synced.
func (a *asking) write(t finishedTrial) {
	sum, err := a.transcripts.Add(t.transcript)
	if err != nil {
		a.fail(err)
		return
	}
	t.trial.TranscriptSHA256 = sum
	a.unsynced.Add(1)
	kind := t.trial.Kind
	a.w.Start(journal.Message{Trial: &t.trial}, func(err error) {
		defer a.unsynced.Done()
		if err != nil {
			a.fail(err)
			return
		}
		a.mu.Lock()
		a.counts[kind]++
		a.finished++
		a.mu.Unlock()
		a.task.Add(1)
	})
}

// fail stops the run; the first failure is kept, a failing journal before all.
func (a *asking) fail(err error) {
	a.mu.Lock()
	if a.failure == nil || errors.Is(err, journal.ErrWrite) && !errors.Is(a.failure, journal.ErrWrite) {
		a.failure = err
	}
	a.mu.Unlock()
	a.once.Do(func() { close(a.halt) })
}

func (a *asking) failed() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failure
}
