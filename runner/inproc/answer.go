package inproc

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/phase0"
	"github.com/fabriccore/assay/specialists/route"
)

// fill puts an assessment into a trial.
func fill(t *journal.Trial, a contract.FailureAssessment) {
	t.Kind, t.Class = journal.Answered, a.FailureClass
	if a.FailureClass == contract.InsufficientEvidence {
		t.Kind = journal.Abstained
	}
	t.Ranked = append(t.Ranked, a.FailureClass)
	for i, h := range a.RootCauseHypotheses {
		if i == 0 {
			t.Cause = h.Cause
		}
		if h.FailureClass != "" && h.FailureClass != a.FailureClass {
			t.Ranked = append(t.Ranked, h.FailureClass)
		}
	}
	for _, e := range a.Evidence {
		if _, id, _ := strings.Cut(e.Ref, "/"); !slices.Contains(t.Evidence, id) {
			t.Evidence = append(t.Evidence, id)
		}
	}
}

// settle adds up the times of a trial: the wait in our own semaphore stands
// apart, retries and time-outs count in full.
func settle(t *journal.Trial, took time.Duration) {
	for _, c := range t.Calls {
		t.Timing.Wait += c.Timing.Wait
		t.Timing.Model += c.Timing.Total
	}
	t.Timing.Total = max(took-t.Timing.Wait, 0)
	t.Timing.Overhead = max(t.Timing.Total-t.Timing.Model, 0)
}

// kindOf says what a failed model call is to the trial.
func kindOf(err error) (journal.Kind, contract.ReasonCode) {
	switch {
	case errors.Is(err, phase0.ErrOutput):
		return journal.ModelError, contract.ReasonSchemaInvalid
	case errors.Is(err, route.ErrInfra):
		return journal.InfraError, contract.ReasonInfraError
	case errors.Is(err, context.Canceled):
		return journal.InfraError, contract.ReasonCancelled
	case errors.Is(err, route.ErrTruncated):
		return journal.ModelError, contract.ReasonTruncated
	case errors.Is(err, context.DeadlineExceeded):
		return journal.ModelError, contract.ReasonTimeout
	default:
		return journal.ModelError, contract.ReasonModelError
	}
}

// kindOfResponse reads the response kind from what came through the door.
func kindOfResponse(r contract.GatewayResponse, calls []contract.CallRecord) journal.Kind {
	switch r.Status {
	case contract.StatusCompleted:
		return journal.Answered
	case contract.StatusRefused:
		return journal.Refused
	}
	switch r.ReasonCode {
	case contract.ReasonInfraError, contract.ReasonCancelled:
		return journal.InfraError
	}
	for _, c := range calls {
		if c.ErrorKind == "infra" {
			return journal.InfraError
		}
	}
	return journal.ModelError // partial, failed, blocked: no usable answer, and it counts as wrong
}

// alive asks the server for its version within two seconds. A time-out on a
// server that is not alive is no fault of the model's.
func (s *Stack) alive() bool {
	if s.parts.Client == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err := s.parts.Client.Version(ctx)
	return err == nil
}

// checkServer turns errors of a dead server into infrastructure errors.
func (s *Stack) checkServer(a *runner.Answer) {
	timedOut := a.Trial.Reason == contract.ReasonTimeout
	if a.Trial.Kind != journal.InfraError && !timedOut {
		return
	}
	if s.alive() {
		a.Trial.Timing.Censored = timedOut
		return
	}
	a.Trial.Kind, a.InfraDown = journal.InfraError, true
}
