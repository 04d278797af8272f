package corpus

import (
	"io/fs"

	"github.com/fabriccore/assay/specialists/contract"
)

// Meta is corpus.yaml: what the corpus is and where it comes from.
type Meta struct {
	Name      string             `yaml:"name" json:"name"`
	Version   int                `yaml:"version" json:"version"`
	TaskClass contract.TaskClass `yaml:"task_class" json:"task_class"`
	// Origin says in words whose data this is (H-002).
	Origin  string `yaml:"origin" json:"origin"`
	Licence string `yaml:"licence" json:"licence"`
	// Purpose is "frozen" for qualification or "development" for work on
	// prompts, rules and routes; a frozen corpus' looks are recorded.
	Purpose string `yaml:"purpose" json:"purpose"`
	// Goal is the goal text of every case: it can't carry an answer.
	Goal         string         `yaml:"goal" json:"goal"`
	LabelSources map[string]int `yaml:"label_sources" json:"label_sources"`
	Synthetic    bool           `yaml:"synthetic,omitempty" json:"synthetic,omitempty"`
}

// Case is one failure to investigate, without its label. All strings but the
// evidence text are opaque.
type Case struct {
	ID       string                  `json:"id"`
	Family   string                  `json:"family"` // the incident; statistics cluster on it
	Task     contract.TaskClass      `json:"task"`
	Evidence []contract.EvidenceItem `json:"evidence"`
	World    World                   `json:"world"`
	Tags     []string                `json:"tags,omitempty"`
}

// World is the scope in which a case is asked.
type World struct {
	Workspace string          `json:"workspace"`
	Run       string          `json:"run"`
	Branch    string          `json:"branch"`
	Caller    contract.Caller `json:"caller"`
}

// Corpus is a loaded, verified corpus. Digest is "sha256:<hex>" of SHA256SUMS;
// it is empty for a corpus that isn't frozen yet.
type Corpus struct {
	Meta     Meta
	Taxonomy contract.Taxonomy
	// TaxonomyDigest is "sha256:<hex>" of the taxonomy file's bytes.
	TaxonomyDigest string
	Cases          []Case
	// CaseDigest maps a case id to "sha256:<hex>" of its line in cases.jsonl.
	CaseDigest map[string]string
	Digest     string
	Dir        string

	fsys fs.FS
	sums map[string]string // nil when not frozen
	at   map[string]int    // index in Cases by id; nil when not loaded
}
