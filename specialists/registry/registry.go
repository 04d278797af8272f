// Package registry owns the persistent definitions of Core Agents (F-033,
// F-068) and is their only store. It refuses a definition with a missing
// field or a write policy, and hides all of them from user-facing lists.
package registry

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fabriccore/assay/specialists/contract"
)

//go:embed core_agents.json
var builtin []byte

// FailureInvestigator is the one specialist of phase 1.
const FailureInvestigator = "fabric.failure_investigator"

// Registry holds validated definitions; it never changes.
type Registry struct {
	defs []contract.CoreAgentDefinition // by id
}

// Default loads the definitions that ship with the module.
func Default() (*Registry, error) { return Load(builtin) }

// Load reads a JSON array of definitions. One that is not complete and
// read-only fails the load.
func Load(raw []byte) (*Registry, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("load core agents: %w", err)
	}
	r := &Registry{}
	for i, one := range list {
		d, err := contract.Decode[contract.CoreAgentDefinition](one)
		if err != nil {
			return nil, fmt.Errorf("load core agent %d: %w", i, err)
		}
		if !strings.HasPrefix(d.ID, "fabric.") {
			return nil, fmt.Errorf("load core agent %q: ids start with fabric.", d.ID)
		}
		if _, ok := r.Get(d.ID); ok {
			return nil, fmt.Errorf("load core agent %s: stands twice", d.ID)
		}
		r.defs = append(r.defs, d)
	}
	slices.SortFunc(r.defs, func(a, b contract.CoreAgentDefinition) int { return strings.Compare(a.ID, b.ID) })
	return r, nil
}

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
