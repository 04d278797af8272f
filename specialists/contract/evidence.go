package contract

// EvidenceItem is one piece of evidence as the context store serves it.
type EvidenceItem struct {
	ID        string `json:"id"`
	Source    string `json:"source"`    // a source kind, checked against allowed_sources
	Workspace string `json:"workspace"` // owner; reads from another one are refused
	MediaType string `json:"media_type"`
	Text      string `json:"text"`
	SHA256    string `json:"sha256"` // hex, of Text
}

// Ref is the reference under which a request names the item.
func (e EvidenceItem) Ref() string { return e.Workspace + "/" + e.ID }

// EvidenceMeta is what may be known about an item without reading it.
type EvidenceMeta struct {
	Ref            string
	Source         string
	Workspace      string
	Classification string // "public", "internal" or "restricted"
	Bytes          int
}

// Class is one failure class of a taxonomy.
type Class struct {
	ID         string `json:"id" yaml:"id"`
	Definition string `json:"definition" yaml:"definition"`
	// Gloss is one short sentence for prompts and retrieval.
	Gloss string `json:"gloss" yaml:"gloss"`
	// NearMiss names what is easily mistaken for this class, and Rule how to
	// tell them apart.
	NearMiss string `json:"near_miss" yaml:"near_miss"`
	Rule     string `json:"rule" yaml:"rule"`
}

// InsufficientEvidence is the class every taxonomy carries.
const InsufficientEvidence = "insufficient_evidence"

// Taxonomy is a closed, versioned set of classes.
type Taxonomy struct {
	Name    string  `json:"name" yaml:"name"`
	Version int     `json:"version" yaml:"version"`
	Classes []Class `json:"classes" yaml:"classes"`
}

// Has reports whether id is one of the taxonomy's classes.
func (t Taxonomy) Has(id string) bool {
	for _, c := range t.Classes {
		if c.ID == id {
			return true
		}
	}
	return false
}

// IDs lists the class ids in taxonomy order.
func (t Taxonomy) IDs() []string {
	ids := make([]string, len(t.Classes))
	for i, c := range t.Classes {
		ids[i] = c.ID
	}
	return ids
}
