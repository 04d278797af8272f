package workspaces

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/fabriccore/assay/specialists/contract"
)

// ErrOutOfScope is wrapped by every refusal of a scope.
var ErrOutOfScope = errors.New("out of scope")

var scopeID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$`)

// Grants says which workspaces an agent may act in. A workspace counts only
// if Exists knows it; a nil Exists knows none.
type Grants struct {
	Exists func(workspace string) bool
	// Members limits workspaces to agents by id; a workspace that is not in
	// it is open to every certified agent.
	Members map[string][]string
	// Branches limits workspaces to branches in the same way.
	Branches map[string][]string
}

// InScope refuses a caller whose workspace, run or branch is not well formed,
// does not exist, or is not its own.
func (g Grants) InScope(c contract.Caller) error {
	for _, f := range [...][2]string{{"workspace_id", c.WorkspaceID}, {"run_id", c.RunID}, {"branch_id", c.BranchID}} {
		if !scopeID.MatchString(f[1]) {
			return fmt.Errorf("%w: %s is missing or malformed", ErrOutOfScope, f[0])
		}
	}
	if g.Exists == nil || !g.Exists(c.WorkspaceID) {
		return fmt.Errorf("%w: no such workspace", ErrOutOfScope)
	}
	if m, ok := g.Members[c.WorkspaceID]; ok && !has(m, c.AgentID) {
		return fmt.Errorf("%w: the agent is no member of the workspace", ErrOutOfScope)
	}
	if b, ok := g.Branches[c.WorkspaceID]; ok && !has(b, c.BranchID) {
		return fmt.Errorf("%w: the branch is not of the workspace", ErrOutOfScope)
	}
	return nil
}

func has(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}
