// Package label owns labels, audits and their joining to cases by id. It
// refuses to be imported by specialists, runner or benchmarks: nothing that
// builds a prompt or asks a model may know a right answer; a test proves it.
package label

// Source says where a label comes from. A label by a model is refused
// everywhere.
type Source string

// The label sources.
const (
	SourceHuman       Source = "human"
	SourceConstructed Source = "constructed"
	SourceImported    Source = "imported"
)

// Label is the right answer for one case.
type Label struct {
	Case  string `json:"case"`
	Class string `json:"class"`
	// Acceptable are further classes that count as right, from the guide's
	// own rules; usually empty.
	Acceptable []string `json:"acceptable,omitempty"`
	// Evidence are the item ids that carry the cause; empty only for
	// insufficient_evidence.
	Evidence []string `json:"evidence"`
	// Cause is the injected or found cause in words.
	Cause  string `json:"cause"`
	Source Source `json:"source"`
	// Difficulty is "easy" (the last lines show the cause) or "hard".
	Difficulty string `json:"difficulty"`
	// Toolchain names the real tools that failed, e.g. "go", "postgresql".
	Toolchain string `json:"toolchain"`
	// Recipe and RecipeSHA256 name the recipe of a constructed label.
	Recipe       string `json:"recipe,omitempty"`
	RecipeSHA256 string `json:"recipe_sha256,omitempty"`
	// Labeler, Date and Guide say by whom, when and under which guide version.
	Labeler string `json:"labeler,omitempty"`
	Date    string `json:"date"`
	Guide   string `json:"guide"`
	// Origin, Revision and Licence describe an imported label's set.
	Origin   string `json:"origin,omitempty"`
	Revision string `json:"revision,omitempty"`
	Licence  string `json:"licence,omitempty"`
}
