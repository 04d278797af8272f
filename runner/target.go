// Package runner executes a plan and writes its journal. It refuses scoring:
// right and wrong do not exist here, and labels can't be imported.
package runner

import (
	"context"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists/contract"
)

// Target answers cases for one arm.
type Target interface {
	// Warm loads models and calibrates; its calls never count.
	Warm(ctx context.Context) ([]contract.CallRecord, error)
	// Fingerprint reads the route as the server reports it now. The zero
	// Route with only Arm set is the answer of an arm without a model.
	Fingerprint(ctx context.Context) (journal.Route, error)
	// Ask puts one case to the arm. It returns within ctx's deadline and
	// never panics; whatever went wrong is in the answer.
	Ask(ctx context.Context, c corpus.Case, repeat int) Answer
}

// Answer is what a target observed for one case. The runner adds keys, place
// in the plan and the wait in its own semaphore.
type Answer struct {
	// Trial holds everything but Key, Case…Ordinal and Started.
	Trial journal.Trial
	// Request and Response are the exact bytes that crossed the door.
	Request  []byte
	Response []byte
	// Calls are the exact model exchanges, for the transcript pack.
	Calls []contract.CallRecord
	// InfraDown says that the server could not be reached at all, so that
	// the runner may stop early instead of failing every trial.
	InfraDown bool
}
