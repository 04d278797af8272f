package main

import (
	"errors"
	"fmt"
)

// The exit codes, one registry (design §5).
const (
	exitQualified    = 0
	exitNotQualified = 1
	exitUsage        = 2
	exitInconclusive = 3
	exitBlocked      = 4
	exitInfra        = 5
	exitFrozen       = 6
	exitInterrupted  = 130
)

// exitError carries an exit code with nothing more to say on stderr when its
// message is empty.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

// usagef is a mistake in how the command was called.
func usagef(format string, args ...any) error {
	return exitError{exitUsage, fmt.Errorf(format, args...)}
}

// sentinel maps an error kind of the floors below to an exit code. The one
// place where codes and errors meet is sentinels.go.
type sentinel struct {
	err  error
	code int
}

// exitCode finds the code of an error.
func exitCode(err error) int {
	if err == nil {
		return exitQualified
	}
	var ee exitError
	if errors.As(err, &ee) {
		return ee.code
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return s.code
		}
	}
	return exitUsage
}
