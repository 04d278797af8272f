package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"unicode/utf8"

	"github.com/fabriccore/assay/corpus/internal/strict"
	"github.com/fabriccore/assay/specialists/contract"
)

// The purposes of a corpus.
const (
	PurposeFrozen      = "frozen"
	PurposeDevelopment = "development"
)

var (
	opaqueID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	classID  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

	taskClasses = map[contract.TaskClass]bool{
		contract.TaskContextResolution: true, contract.TaskCapabilityMatching: true, contract.TaskPlanGeneration: true,
		contract.TaskFailureAnalysis: true, contract.TaskRecoveryPlanning: true, contract.TaskOutcomeVerification: true,
		contract.TaskAgentArchitecture: true, contract.TaskAgentBuild: true, contract.TaskCertificationReview: true,
	}
	systems = map[contract.System]bool{
		contract.SystemForgeAgent: true, contract.SystemWeave: true, contract.SystemForgeStudio: true,
		contract.SystemCertification: true, contract.SystemRuntimeRecovery: true, contract.SystemRAG: true,
		contract.SystemConnectorMgmt: true,
	}
)

func (c *Corpus) readCases() error {
	file := c.Path(CasesFile)
	f, err := c.fsys.Open(CasesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return invalid(file, 0, "missing; a corpus needs it")
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	defer f.Close()
	at := map[string]int{}
	err = strict.Lines(f, file, func(line int, raw []byte) error {
		k, err := DecodeCase(file, line, raw)
		if err != nil {
			return err
		}
		if k.Task != c.Meta.TaskClass {
			return invalid(file, line, "case %s: task is %q, the corpus' task_class is %q", k.ID, k.Task, c.Meta.TaskClass)
		}
		if first, ok := at[k.ID]; ok {
			return invalid(file, line, "case id %s stands already on line %d; give each case its own id", k.ID, first+1)
		}
		at[k.ID] = len(c.Cases)
		d := sha256.Sum256(raw)
		c.CaseDigest[k.ID] = "sha256:" + hex.EncodeToString(d[:])
		c.Cases = append(c.Cases, k)
		return nil
	})
	if err != nil {
		return err
	}
	c.at = at
	if len(c.Cases) == 0 {
		return invalid(file, 0, "no cases; add one before loading")
	}
	return nil
}

// DecodeCase decodes and checks one line of cases.jsonl, given without its
// newline; file and line are used in messages.
func DecodeCase(file string, line int, raw []byte) (Case, error) {
	var k Case
	if err := strict.Object(file, line, raw, &k); err != nil {
		return Case{}, err
	}
	if msg := k.fault(); msg != "" {
		return Case{}, invalid(file, line, "case %s: %s", k.ID, msg)
	}
	return k, nil
}

// fault says what is wrong with a case, or "".
func (k Case) fault() string {
	w := k.World
	switch {
	case !opaqueID.MatchString(k.ID):
		return fmt.Sprintf("id %q; use small letters, digits and hyphens", k.ID)
	case !opaqueID.MatchString(k.Family):
		return fmt.Sprintf("family %q; name the incident it belongs to", k.Family)
	case !taskClasses[k.Task]:
		return fmt.Sprintf("task %q is none of the nine task classes", k.Task)
	case len(k.Evidence) == 0:
		return "no evidence; give at least one item"
	case w.Workspace == "" || w.Run == "" || w.Branch == "":
		return "world lacks workspace, run or branch; name all three"
	case !systems[w.Caller.System]:
		return fmt.Sprintf("caller system %q is none of the seven", w.Caller.System)
	case w.Caller.AgentID == "" || w.Caller.Role == "":
		return "caller lacks agent_id or role; name both"
	case w.Caller.WorkspaceID != w.Workspace || w.Caller.RunID != w.Run || w.Caller.BranchID != w.Branch:
		return "caller's workspace, run or branch is not the world's; make them equal"
	}
	seen := map[string]bool{}
	for i, e := range k.Evidence {
		got := sha256.Sum256([]byte(e.Text))
		switch {
		case !opaqueID.MatchString(e.ID):
			return fmt.Sprintf("evidence %d: id %q; use small letters, digits and hyphens", i+1, e.ID)
		case seen[e.ID]:
			return fmt.Sprintf("evidence id %s stands twice; give each item its own id", e.ID)
		case !classID.MatchString(e.Source):
			return fmt.Sprintf("evidence %s: source %q; name its source kind", e.ID, e.Source)
		case e.MediaType == "":
			return fmt.Sprintf("evidence %s: media_type is empty; name it", e.ID)
		case e.Text == "" || !utf8.ValidString(e.Text):
			return fmt.Sprintf("evidence %s: text is empty or not UTF-8", e.ID)
		case e.Workspace != w.Workspace:
			return fmt.Sprintf("evidence %s: belongs to workspace %q, the case to %q", e.ID, e.Workspace, w.Workspace)
		case e.SHA256 != hex.EncodeToString(got[:]):
			return fmt.Sprintf("evidence %s: sha256 is not that of its text (%x)", e.ID, got)
		}
		seen[e.ID] = true
	}
	return ""
}
