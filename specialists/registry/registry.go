// Package registry owns the persistent definitions of Core Agents (F-033,
// F-068) and is their only store. It refuses a definition with a missing
// field or a write policy, and hides all of them from user-facing lists.
package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fabriccore/assay/specialists/contract"
)

// FailureInvestigator is the one specialist of phase 1.
const FailureInvestigator = "fabric.failure_investigator"

// Registry holds validated definitions; it never changes.
type Registry struct {
	defs []contract.CoreAgentDefinition // by id
}

// Load reads definitions, one JSON object each. One that is not complete and
// read-only fails the load.
func Load(list ...[]byte) (*Registry, error) {
	r := &Registry{}
	for i, one := range list {
		d, err := contract.Decode[contract.CoreAgentDefinition](one)
		if err != nil {
			return nil, fmt.Errorf("load core agent %d: %w", i, err)
		}
		if !strings.HasPrefix(d.ID, "fabric.") {
			return nil, fmt.Errorf("load core agent %q: ids start with \"fabric.\"", d.ID)
		}
		if _, ok := r.Get(d.ID); ok {
			return nil, fmt.Errorf("load core agent %s: stands twice", d.ID)
		}
		r.defs = append(r.defs, d)
	}
	slices.SortFunc(r.defs, func(a, b contract.CoreAgentDefinition) int { return strings.Compare(a.ID, b.ID) })
	return r, nil
}

// All returns every definition, by id.
func (r *Registry) All() []contract.CoreAgentDefinition { return slices.Clone(r.defs) }

// Get returns one definition.
func (r *Registry) Get(id string) (contract.CoreAgentDefinition, bool) {
	for _, d := range r.defs {
		if d.ID == id {
			return d, true
		}
	}
	return contract.CoreAgentDefinition{}, false
}

// ForTask returns the active definitions that support a task class, by id.
func (r *Registry) ForTask(t contract.TaskClass) []contract.CoreAgentDefinition {
	var out []contract.CoreAgentDefinition
	for _, d := range r.defs {
		if slices.Contains(d.SupportedTaskClasses, t) && d.DeprecationState == "active" {
			out = append(out, d)
		}
	}
	return out
}

// Visible lists the ids that a role may see: none, unless it holds the
// governance label fabric_core.
func (r *Registry) Visible(label string) []string {
	if label != contract.SignedBy {
		return nil
	}
	ids := make([]string, len(r.defs))
	for i, d := range r.defs {
		ids[i] = d.ID
	}
	return ids
}
