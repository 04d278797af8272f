// Package capabilities stands in for capability_registry (F-011): which
// version of each capability is in force, as it enters the signed digest. It
// refuses to resolve a capability to a model; that is the route's.
package capabilities

import "maps"

// Registry maps capability names to versions.
type Registry map[string]string

// Versions returns the versions of the named capabilities; one that is not
// registered has the version "unregistered".
func (r Registry) Versions(names []string) map[string]string {
	out := make(map[string]string, len(names))
	for _, n := range names {
		v, ok := r[n]
		if !ok {
			v = "unregistered"
		}
		out[n] = v
	}
	return out
}

// Clone returns a copy.
func (r Registry) Clone() Registry { return maps.Clone(r) }
