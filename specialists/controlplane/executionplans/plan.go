// Package executionplans stands in for weave_execution_plans (F-013): the
// parent and child steps of one request and the order they run in. Phase 1
// knows one order, sequential. It refuses to know what a step does.
package executionplans

import "errors"

// ErrFanOut refuses a plan that needs more than the budget allows.
var ErrFanOut = errors.New("plan exceeds its fan-out or rounds")

// Bounds are the budgets of a plan.
type Bounds struct{ Children, Rounds int }

// Plan is the sequence of children of one parent.
type Plan struct {
	Parent   string
	children []string
	done     int
}

// Sequential plans the children one after another in a single round.
func Sequential(parent string, children []string, b Bounds) (*Plan, error) {
	if len(children) > b.Children || b.Rounds < 1 {
		return nil, ErrFanOut
	}
	return &Plan{Parent: parent, children: append([]string{}, children...)}, nil
}

// Next returns the child to run, or false when all are complete.
func (p *Plan) Next() (string, bool) {
	if p.done >= len(p.children) {
		return "", false
	}
	return p.children[p.done], true
}

// CompleteChild marks the current child complete.
func (p *Plan) CompleteChild() {
	if p.done < len(p.children) {
		p.done++
	}
}

// Complete reports whether the parent is complete.
func (p *Plan) Complete() bool { return p.done == len(p.children) }
