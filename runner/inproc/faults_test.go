package inproc_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/route/ollamatest"
)

// open finds a case that needs a specialist.
func open(t testing.TB, c *corpus.Corpus, tg runner.Target) corpus.Case {
	t.Helper()
	for _, k := range c.Cases {
		if a := tg.Ask(t.Context(), k, 0); a.Trial.Sufficiency == contract.SufficiencySpecialistRequired && len(a.Trial.Calls) > 0 {
			return k
		}
	}
	t.Fatal("no case needs a specialist")
	return corpus.Case{}
}

// F-060, design §3: each fault becomes its kind of response, none outlasts its
// time-out, none leaves a write behind, and the times add up.
func TestFaultsToKinds(t *testing.T) {
	c := head(t, development, 12)
	for _, tc := range []struct {
		fault    ollamatest.Fault
		path     string
		kind     journal.Kind
		reason   contract.ReasonCode
		censored bool
	}{
		{ollamatest.ServerError, ollamatest.Chat, journal.InfraError, contract.ReasonInfraError, false},
		{ollamatest.QueueFull, ollamatest.Chat, journal.InfraError, contract.ReasonInfraError, false},
		{ollamatest.Missing, ollamatest.Chat, journal.InfraError, contract.ReasonInfraError, false},
		{ollamatest.Garbage, ollamatest.Chat, journal.InfraError, contract.ReasonInfraError, false},
		{ollamatest.HalfBody, ollamatest.Chat, journal.InfraError, contract.ReasonInfraError, false},
		{ollamatest.NoBody, ollamatest.Chat, journal.InfraError, contract.ReasonInfraError, false},
		{ollamatest.Reset, ollamatest.Chat, journal.InfraError, contract.ReasonInfraError, false},
		{ollamatest.TooLong, ollamatest.Chat, journal.ModelError, contract.ReasonTruncated, false},
		{ollamatest.Cut, ollamatest.Chat, journal.ModelError, contract.ReasonTruncated, false},
		{ollamatest.Huge, ollamatest.Chat, journal.ModelError, contract.ReasonModelError, false},
		{ollamatest.EmptyAnswer, ollamatest.Chat, journal.ModelError, contract.ReasonSchemaInvalid, false},
		{ollamatest.Prose, ollamatest.Chat, journal.ModelError, contract.ReasonSchemaInvalid, false},
		{ollamatest.ExtraKey, ollamatest.Chat, journal.ModelError, contract.ReasonSchemaInvalid, false},
		{ollamatest.WrongType, ollamatest.Chat, journal.ModelError, contract.ReasonSchemaInvalid, false},
		{ollamatest.OffMenu, ollamatest.Chat, journal.ModelError, contract.ReasonSchemaInvalid, false},
		{ollamatest.Hang, ollamatest.Chat, journal.ModelError, contract.ReasonTimeout, true},
		{ollamatest.Drip, ollamatest.Chat, journal.ModelError, contract.ReasonTimeout, true},

		{ollamatest.ServerError, ollamatest.Embed, journal.InfraError, contract.ReasonInfraError, false},
		{ollamatest.NotANumber, ollamatest.Embed, journal.InfraError, contract.ReasonInfraError, false},
		{ollamatest.NaNRefused, ollamatest.Embed, journal.ModelError, contract.ReasonModelError, false},
		{ollamatest.VectorLong, ollamatest.Embed, journal.ModelError, contract.ReasonModelError, false},
		{ollamatest.Hang, ollamatest.Embed, journal.ModelError, contract.ReasonTimeout, true},
	} {
		for _, arm := range arms[1:3] {
			if arm.Kind == benchmarks.ArmBare && tc.path == ollamatest.Embed {
				continue
			}
			t.Run(string(tc.fault)+" "+tc.path+" "+arm.Name, func(t *testing.T) {
				t.Parallel()
				limit := 30 * time.Second
				if tc.censored {
					limit = time.Second
				}
				s, st := stack(t, c)
				k := open(t, c, target(t, st, arms[2]))
				tg := target(t, st, arm)
				s.Inject(tc.path, tc.fault, -1)
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				began := time.Now()
				a := tg.Ask(ctx, k, 0)
				if took := time.Since(began); took > limit+2*time.Second {
					t.Errorf("took %v", took)
				}
				tr := a.Trial
				if tr.Kind != tc.kind || tr.Reason != tc.reason || a.InfraDown || tr.Timing.Censored != tc.censored {
					t.Errorf("%s %s, down %v, censored %v: %s", tr.Kind, tr.Reason, a.InfraDown, tr.Timing.Censored, tr.Error)
				}
				if tr.Class != "" || tr.Error == "" || strings.Contains(tr.Error, "\n") {
					t.Errorf("class %q, error %q", tr.Class, tr.Error)
				}
				if tr.Timing.Total != tr.Timing.Model+tr.Timing.Overhead {
					t.Errorf("timing %+v", tr.Timing)
				}
				if tc.censored && tr.Timing.Model < limit/2 {
					t.Errorf("the time-out counts %v of %v (Q-43)", tr.Timing.Model, limit)
				}
				if arm.Kind == benchmarks.ArmCore {
					if err := contract.VerifyChain(tr.Receipts); err != nil {
						t.Error(err)
					}
					if tr.Safety == nil || *tr.Safety != (contract.SafetyCounters{}) {
						t.Errorf("safety %+v", tr.Safety)
					}
				}
			})
		}
	}
}

// A server that is gone is infrastructure, and says so, so that the run can
// stop instead of failing every trial.
func TestDeadServer(t *testing.T) {
	c := head(t, development, 12)
	for _, arm := range arms[1:3] {
		s, st := stack(t, c)
		k := open(t, c, target(t, st, arms[2]))
		tg := target(t, st, arm)
		s.Close()
		a := tg.Ask(t.Context(), k, 0)
		if a.Trial.Kind != journal.InfraError || !a.InfraDown || a.Trial.Class != "" {
			t.Errorf("%s: %s %s, down %v", arm.Name, a.Trial.Kind, a.Trial.Reason, a.InfraDown)
		}
		if _, err := tg.Fingerprint(t.Context()); err == nil {
			t.Errorf("%s: a fingerprint of nothing", arm.Name)
		}
	}
}

// A server that hangs on everything is no fault of the model's.
func TestHungServer(t *testing.T) {
	c := head(t, development, 12)
	for _, arm := range arms[1:3] {
		s, st := stack(t, c)
		k := open(t, c, target(t, st, arms[2]))
		tg := target(t, st, arm)
		for _, p := range []string{ollamatest.Chat, ollamatest.Embed, "/api/version"} {
			s.Inject(p, ollamatest.Hang, -1)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		a := tg.Ask(ctx, k, 0)
		cancel()
		if a.Trial.Kind != journal.InfraError || !a.InfraDown {
			t.Errorf("%s: %s %s, down %v", arm.Name, a.Trial.Kind, a.Trial.Reason, a.InfraDown)
		}
	}
}

// An answer that was given up by the run is no answer of the model's.
func TestCancelled(t *testing.T) {
	c := head(t, development, 12)
	for _, arm := range arms[1:3] {
		s, st := stack(t, c)
		k := open(t, c, target(t, st, arms[2]))
		tg := target(t, st, arm)
		s.Inject(ollamatest.Chat, ollamatest.Hang, -1)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		began := time.Now()
		a := tg.Ask(ctx, k, 0)
		if a.Trial.Kind != journal.InfraError || a.Trial.Reason != contract.ReasonCancelled || a.InfraDown || time.Since(began) > 2*time.Second {
			t.Errorf("%s: %s %s, down %v after %v", arm.Name, a.Trial.Kind, a.Trial.Reason, a.InfraDown, time.Since(began))
		}
	}
}

// F-060: a model that never ends its answer is a bad model on a good server:
// it is warmed up, and each of its trials is its own error.
func TestF060EndlessModel(t *testing.T) {
	c := head(t, development, 12)
	for _, arm := range []benchmarks.Arm{arms[1], arms[3]} {
		s, st := stack(t, c)
		k := open(t, c, target(t, st, arms[3]))
		s.Inject(ollamatest.Chat, ollamatest.Cut, -1)
		a := target(t, st, arm).Ask(t.Context(), k, 0)
		if a.Trial.Kind != journal.ModelError || a.Trial.Reason != contract.ReasonTruncated || a.InfraDown {
			t.Errorf("%s: %s %s: %s", arm.Name, a.Trial.Kind, a.Trial.Reason, a.Trial.Error)
		}
	}
}
