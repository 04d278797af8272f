// Package orchestrator owns what happens to a request behind the gateway
// (F-052): the deterministic-sufficiency verdict, the smallest team, the
// isolation of context, the schedule, the metered specialist run, and the one
// consolidated outcome. It refuses to check callers and policies, to write,
// to talk to a model itself, and to read any confidence that a model reports
// about itself (F-036). Only the gateway and the assembler import it.
package orchestrator

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
)

// Sufficiency decides whether deterministic code answers (F-035); the run
// contracts implement it.
type Sufficiency interface {
	Assess(ctx context.Context, task contract.Task, tax contract.Taxonomy, ev []contract.EvidenceItem) (contract.DeterministicSufficiency, error)
}

// Evidence reads inside the session's workspace.
type Evidence interface {
	Resolve(ctx context.Context, ref string) (contract.EvidenceItem, error)
}

// Registry names the definitions for a task class.
type Registry interface {
	ForTask(contract.TaskClass) []contract.CoreAgentDefinition
}

// Capabilities tells the versions that enter the digest.
type Capabilities interface {
	Versions(names []string) map[string]string
}

// Book takes what happens during a request.
type Book interface {
	Step(step string, detail map[string]string)
	Receipt(kind string, body map[string]string) error
	Call(contract.CallRecord)
	Sufficiency(contract.DeterministicSufficiency)
	Digest(contract.ContextPolicyDigest)
}

// Parts are everything the orchestrator works with.
type Parts struct {
	Sufficiency   Sufficiency
	Evidence      Evidence
	Registry      Registry
	Capabilities  Capabilities
	Specialists   []contract.Specialist
	Taxonomies    map[string]contract.Taxonomy // by digest
	Model         contract.Model               // nil: the route has no model at all
	ModelsEnabled func() bool
	ModelRoute    string             // how metrics and the digest name the route
	Key           ed25519.PrivateKey // signs context policy digests
	Now           func() time.Time
}

// Budgets are the effective bounds of one request (F-034). Every field is a
// bound; the model budget lives in the definition.
type Budgets struct {
	CoreAgents, MicroAgents, Rounds, Tokens, LatencyMS, TimeoutMS int
}

// Assignment is a request that passed the gateway's four checks.
type Assignment struct {
	Request    *contract.GatewayRequest
	Candidates []string // core agents that policy and request allow
	Policy     contract.AssistancePolicy
	Budget     Budgets
	Start      time.Time
}

// Outcome is what the gateway wraps into the one response.
type Outcome struct {
	Status         contract.Status
	Reason         contract.ReasonCode
	Recommendation json.RawMessage
	Evidence       []contract.EvidenceCite
	Assumptions    []string
	Conflicts      []string
	Unresolved     []string
	Signals        contract.ConfidenceInputs
	Specialists    []string
	ModelRoute     string
	Result         *contract.CoreAgentResult
}

func failed(r contract.ReasonCode, why string) Outcome {
	o := Outcome{Status: contract.StatusFailed, Reason: r}
	if why != "" {
		o.Unresolved = []string{why}
	}
	return o
}
