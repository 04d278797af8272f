// Package decisionengine stands in for decision_engine (F-017): it owns which
// class of action a role's wish falls into. It is default-deny: a role or an
// action that no table names is denied. It refuses to know policies, budgets
// and evidence.
package decisionengine

// Class is the class of an action.
type Class string

// The five classes.
const (
	Read   Class = "read"
	Run    Class = "run"
	Deploy Class = "deploy"
	Admin  Class = "admin"
	Deny   Class = "deny"
)

// The actions that the tables know.
const (
	InvokeCore = "core.invoke" // ask the gateway for specialist assistance
	ViewTrace  = "trace.view"  // see the advanced trace
	StopCore   = "core.stop"   // the emergency stop
)

// Table maps a role and an action to a class.
type Table map[string]map[string]Class

// Default is the table of the pilot: people who are plain users, and roles
// nobody listed, never reach a Core Agent (F-033).
func Default() Table {
	return Table{
		"operator": {InvokeCore: Run, ViewTrace: Read},
		"service":  {InvokeCore: Run},
		"admin":    {InvokeCore: Run, ViewTrace: Read, StopCore: Admin},
		"auditor":  {ViewTrace: Read},
		"viewer":   {InvokeCore: Read},
		"user":     {},
	}
}

// Engine classifies by one table. The zero Engine denies everything.
type Engine struct{ table Table }

// New returns an engine on the table; nil denies everything.
func New(t Table) Engine { return Engine{t} }

// ActionClass classifies what a role wants to do.
func (e Engine) ActionClass(role, action string) Class {
	switch c := e.table[role][action]; c {
	case Read, Run, Deploy, Admin:
		return c
	default:
		return Deny
	}
}

// MayView reports whether a role may see the advanced trace (F-056).
func (e Engine) MayView(role string) bool { return e.ActionClass(role, ViewTrace) == Read }

// MayInvoke reports whether a role may ask for specialist assistance, which
// needs the class run: neither read nor a higher class stands for it.
func (e Engine) MayInvoke(role string) bool { return e.ActionClass(role, InvokeCore) == Run }
