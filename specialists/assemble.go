// Package specialists owns the assembly of the governed stack: it takes the
// parts - specialists, model route, deterministic sufficiency, evidence,
// taxonomies, control plane, clock and randomness - and returns one door. It
// refuses labels, scoring and knowing that it is tested.
package specialists

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/agentsstore"
	"github.com/fabriccore/assay/specialists/controlplane/capabilities"
	"github.com/fabriccore/assay/specialists/controlplane/decisionengine"
	"github.com/fabriccore/assay/specialists/controlplane/flags"
	"github.com/fabriccore/assay/specialists/controlplane/harness"
	"github.com/fabriccore/assay/specialists/controlplane/ratelimit"
	"github.com/fabriccore/assay/specialists/controlplane/receipts"
	"github.com/fabriccore/assay/specialists/controlplane/workflows"
	"github.com/fabriccore/assay/specialists/controlplane/workspacecontext"
	"github.com/fabriccore/assay/specialists/controlplane/workspaces"
	"github.com/fabriccore/assay/specialists/controlplane/writecounter"
	"github.com/fabriccore/assay/specialists/gateway"
	"github.com/fabriccore/assay/specialists/orchestrator"
	"github.com/fabriccore/assay/specialists/registry"
)

// The caller that a door knows unless Parts names others.
const (
	CallerAgent   = "forge.release-helper"
	CallerVersion = "1.0.0"
	CallerRole    = "operator"
)

// EvidenceStore serves evidence; workspacecontext.Store is one.
type EvidenceStore interface {
	Describe(ctx context.Context, ref string) (contract.EvidenceMeta, error)
	Resolve(ctx context.Context, ref string) (contract.EvidenceItem, error)
	Exists(workspace string) bool
}

// Parts are what a door is made of. Model, Sufficiency, Taxonomies and
// Specialists are the caller's; every other part has a default.
type Parts struct {
	Model       contract.Model // nil: no model at all
	ModelRoute  string         // how metrics and digest name the route
	Sufficiency orchestrator.Sufficiency
	Specialists []contract.Specialist
	Taxonomies  map[string]contract.Taxonomy // by digest, "sha256:<hex>"

	// Evidence fills a store of the door's own; Store replaces it.
	Evidence []contract.EvidenceItem
	Store    EvidenceStore

	Now  func() time.Time
	Rand io.Reader

	// Agents are the callers; nil is the one of CallerAgent. They are
	// certified and signed at assembly.
	Agents []agentsstore.Agent

	Registry  *registry.Registry
	Authority gateway.Authority
	Scopes    gateway.Scopes
	Switches  *flags.Switches       // nil: both on
	Plane     *writecounter.Plane   // nil: one of the door's own
	Ledger    *receipts.Ledger      // nil: one without a sink
	Rate      ratelimit.Limit       // zero: unlimited
	Dedup     time.Duration         // how long an answered request stays claimed
	Limits    *gateway.Limits       // nil: DefaultLimits
	Versions  capabilities.Registry // capability versions for the digest
}

// Door is the assembled stack; it is safe for concurrent use.
type Door struct {
	gateway     *gateway.Gateway
	specialists []contract.Specialist
	taxonomies  map[string]contract.Taxonomy
	model       contract.Model
	public      ed25519.PublicKey
	agents      *agentsstore.Store
}

// New assembles a door.
func New(p Parts) (*Door, error) {
	if p.Sufficiency == nil {
		return nil, errors.New("assemble: no deterministic sufficiency")
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Rand == nil {
		p.Rand = rand.Reader
	}
	entropy := &lockedReader{r: p.Rand}
	reg := p.Registry
	if reg == nil {
		var err error
		if reg, err = Registry(); err != nil {
			return nil, fmt.Errorf("assemble: %w", err)
		}
	}
	for _, s := range p.Specialists {
		d := s.Definition()
		if own, ok := reg.Get(d.ID); !ok || own.Version != d.Version {
			return nil, fmt.Errorf("assemble: specialist %s %s is not in the registry", d.ID, d.Version)
		}
	}
	public, key, err := newKey(entropy)
	if err != nil {
		return nil, fmt.Errorf("assemble: %w", err)
	}
	agents, err := signedAgents(p, reg, public, key)
	if err != nil {
		return nil, fmt.Errorf("assemble: %w", err)
	}
	if p.Store == nil {
		p.Store = workspacecontext.New(p.Evidence...)
	}
	p.defaults()
	orch, err := orchestrator.New(orchestrator.Parts{
		Sufficiency: p.Sufficiency, Evidence: p.Store, Registry: reg, Capabilities: p.Versions, Specialists: p.Specialists,
		Taxonomies: p.Taxonomies, Model: p.Model, ModelsEnabled: p.Switches.ModelsEnabled, ModelRoute: p.ModelRoute, Key: key, Now: p.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("assemble: %w", err)
	}
	gw, err := gateway.New(gateway.Parts{
		Authority: p.Authority, Agents: agents, Registry: reg, Switches: p.Switches, Scopes: p.Scopes, Evidence: p.Store,
		Limiter: ratelimit.New(p.Rate, p.Now), Claims: workflows.NewClaims(p.Dedup, p.Now), Plane: p.Plane, Delegate: orch,
		Open: func(id string) gateway.Book { return p.Ledger.Open(id) }, NewTraceID: entropy.traceID, Now: p.Now, Limits: *p.Limits,
	})
	if err != nil {
		return nil, fmt.Errorf("assemble: %w", err)
	}
	return &Door{gateway: gw, specialists: p.Specialists, taxonomies: p.Taxonomies, model: p.Model, public: public, agents: agents}, nil
}

func (p *Parts) defaults() {
	if p.Authority == nil {
		p.Authority = decisionengine.New(decisionengine.Default())
	}
	if p.Scopes == nil {
		p.Scopes = workspaces.Grants{Exists: p.Store.Exists}
	}
	if p.Switches == nil {
		p.Switches = flags.On()
	}
	if p.Plane == nil {
		p.Plane = &writecounter.Plane{}
	}
	if p.Ledger == nil {
		p.Ledger = &receipts.Ledger{}
	}
	if p.Ledger.Now == nil {
		p.Ledger.Now = p.Now
	}
	if p.Limits == nil {
		l := gateway.DefaultLimits()
		p.Limits = &l
	}
	if p.Versions == nil {
		p.Versions = capabilities.Registry{"evidence_selection": "1", "failure_classification": "1"}
	}
}

// Request answers one GatewayRequest.v1 document; it never panics.
func (d *Door) Request(ctx context.Context, raw []byte) ([]byte, contract.Record) {
	return d.gateway.Request(ctx, raw)
}

// Warm lets every specialist prepare for every taxonomy with calls that never
// count. It returns the first failure.
func (d *Door) Warm(ctx context.Context) error {
	inside := workspaces.Enter(ctx, workspaces.Session{TraceID: "warm-up", Actor: workspaces.Core})
	for _, s := range d.specialists {
		for _, t := range d.taxonomies {
			if err := warm(inside, s, d.model, t); err != nil {
				return fmt.Errorf("warm %s: %w", s.Definition().ID, err)
			}
		}
	}
	return nil
}

func warm(ctx context.Context, s contract.Specialist, m contract.Model, t contract.Taxonomy) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return s.Warm(ctx, m, t)
}

// PublicKey verifies the digests that this door signs.
func (d *Door) PublicKey() ed25519.PublicKey { return d.public }

// Agents is the store of the callers, as a user sees it.
func (d *Door) Agents() *agentsstore.Store { return d.agents }

// Discarded counts proposals that came after their request had ended, Stuck
// the requests that were answered while their work went on.
func (d *Door) Discarded() int { return d.gateway.Discarded() }

// Stuck is documented at Discarded.
func (d *Door) Stuck() int { return d.gateway.Stuck() }

// DefaultAgent is the caller of the pilot with the ceilings of a definition,
// certified for it and for others.
func DefaultAgent(def contract.CoreAgentDefinition, others ...contract.CoreAgentDefinition) agentsstore.Agent {
	ids, classes := []string{def.ID}, slices.Clone(def.SupportedTaskClasses)
	for _, o := range others {
		if o.ID == def.ID {
			continue
		}
		ids = append(ids, o.ID)
		for _, c := range o.SupportedTaskClasses {
			if !slices.Contains(classes, c) {
				classes = append(classes, c)
			}
		}
	}
	return agentsstore.Agent{
		ID: CallerAgent, Version: CallerVersion, Origin: "human", Roles: []string{CallerRole}, GrantedBy: "fabric_harness",
		Assistance: contract.AssistancePolicy{
			Version: "1", Enabled: true, AllowedCoreAgents: ids, AllowedTaskClasses: classes,
			InvocationMode: contract.InvokeOrchestratorSelected, MaxCoreAgentsPerRequest: 3, MaxMicroAgentsPerRequest: 6,
			MaxReasoningRounds: 2, TokenCeiling: def.TokenBudget, LatencyMSCeiling: def.LatencyMSBudget,
			TimeoutMSCeiling: def.TimeoutMS, ApprovalRequiredForEscalation: true,
		},
	}
}

// signedAgents certifies and signs the callers.
func signedAgents(p Parts, reg *registry.Registry, public ed25519.PublicKey, key ed25519.PrivateKey) (*agentsstore.Store, error) {
	def, ok := reg.Get(registry.FailureInvestigator)
	if !ok {
		return nil, fmt.Errorf("the registry lacks %s", registry.FailureInvestigator)
	}
	list := p.Agents
	if list == nil {
		list = []agentsstore.Agent{DefaultAgent(def, reg.All()...)}
	}
	ceilings := harness.Ceilings{CoreAgents: 3, MicroAgents: 6, Rounds: 2, Tokens: def.TokenBudget, LatencyMS: def.LatencyMSBudget, TimeoutMS: def.TimeoutMS}
	store := agentsstore.New(public)
	for _, a := range list {
		if err := harness.Certify(a.Assistance, a.ID, a.GrantedBy, ceilings); err != nil {
			return nil, err
		}
		signed, err := agentsstore.Sign(a, key)
		if err != nil {
			return nil, err
		}
		if err := store.Put(a.ID, a.Version, signed); err != nil {
			return nil, err
		}
	}
	return store, nil
}

// newKey derives a key from the randomness alone, so that a fixed source
// gives a fixed key.
func newKey(r io.Reader) (ed25519.PublicKey, ed25519.PrivateKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(r, seed); err != nil {
		return nil, nil, fmt.Errorf("make signing key: %w", err)
	}
	key := ed25519.NewKeyFromSeed(seed)
	return key.Public().(ed25519.PublicKey), key, nil
}

// lockedReader makes a source of randomness safe for concurrent use.
type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedReader) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return io.ReadFull(l.r, b)
}

func (l *lockedReader) traceID() (string, error) {
	var b [16]byte
	if _, err := l.Read(b[:]); err != nil {
		return "", fmt.Errorf("make trace id: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}
