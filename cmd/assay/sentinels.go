package main

import (
	"context"
	"syscall"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/corpus/recipe"
	"github.com/fabriccore/assay/reports"
	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/runner/ollamad"
	"github.com/fabriccore/assay/scorers"
	"github.com/fabriccore/assay/specialists/route"
)

// sentinels maps every error kind of the floors below to its exit code; the
// first match counts. What is not here is a mistake in the call (exit 2).
var sentinels = []sentinel{
	{corpus.ErrChanged, exitFrozen},
	{corpus.ErrInvalid, exitFrozen},
	{label.ErrModel, exitFrozen},
	{benchmarks.ErrPin, exitFrozen},
	{runner.ErrMismatch, exitFrozen},
	{journal.ErrCorrupt, exitFrozen},
	{scorers.ErrNoLabel, exitFrozen},
	{scorers.ErrLabelRefused, exitFrozen},
	{scorers.ErrNoRun, exitFrozen},
	{reports.ErrDocument, exitFrozen},
	{runner.ErrInterrupted, exitInterrupted},
	{context.Canceled, exitInterrupted},
	{runner.ErrDeadline, exitInconclusive},
	{runner.ErrInfrastructure, exitInfra},
	{runner.ErrFolder, exitInfra},
	{ollamad.ErrUnavailable, exitInfra},
	{route.ErrInfra, exitInfra},
	{route.ErrModel, exitInfra},
	{journal.ErrWrite, exitInfra},
	{recipe.ErrUnavailable, exitInfra},
	{recipe.ErrFailed, exitNotQualified},
	{syscall.ENOSPC, exitInfra}, // a disk, whatever was written
	{syscall.EDQUOT, exitInfra},
	{syscall.EROFS, exitInfra},
	{syscall.EIO, exitInfra},
}
