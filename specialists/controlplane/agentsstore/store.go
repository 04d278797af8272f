// Package agentsstore stands in for agents_store (F-020): user-facing Forge
// Agents with their origin and, signed into them, the certified assistance
// policy (F-070, F-072). It refuses Core Agents, which live in a registry of
// their own (F-033), and serves nothing whose signature does not verify.
package agentsstore

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fabriccore/assay/specialists/contract"
)

// Errors of a lookup or a change.
var (
	ErrUnknown  = errors.New("unknown agent")
	ErrTampered = errors.New("the agent's signature does not verify")
	ErrReserved = errors.New("core agents do not live in the agents store")
)

// Agent is the signed content. Origin is "human", "fabric" or "seed".
type Agent struct {
	ID         string                    `json:"id"`
	Version    string                    `json:"version"`
	Origin     string                    `json:"origin"`
	Roles      []string                  `json:"roles"`
	GrantedBy  string                    `json:"granted_by"`
	Assistance contract.AssistancePolicy `json:"core_agent_assistance"`
}

// Signed is an agent as it is stored: the exact bytes and an Ed25519
// signature over them.
type Signed struct {
	Payload   []byte
	Signature []byte
}

// Sign signs an agent.
func Sign(a Agent, key ed25519.PrivateKey) (Signed, error) {
	raw, err := contract.Encode(a)
	if err != nil {
		return Signed{}, fmt.Errorf("sign agent %s: %w", a.ID, err)
	}
	return Signed{Payload: raw, Signature: ed25519.Sign(key, raw)}, nil
}

// sum names the exact signature and payload; the length keeps them apart.
func (a Signed) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write([]byte{byte(len(a.Signature))})
	h.Write(a.Signature)
	h.Write(a.Payload)
	h.Sum(sum[:0])
	return sum
}

// Store is safe for concurrent use.
type Store struct {
	pub ed25519.PublicKey

	mu     sync.RWMutex
	agents map[string]Signed
	good   map[[sha256.Size]byte]Agent // verified payload and signature
}

// New returns a store that trusts one key.
func New(pub ed25519.PublicKey) *Store {
	return &Store{pub: pub, agents: map[string]Signed{}, good: map[[sha256.Size]byte]Agent{}}
}

// Put stores a signed agent as it is, also one whose signature is wrong: what
// counts is what a lookup verifies. A Core Agent is refused.
func (s *Store) Put(id, version string, a Signed) error {
	if strings.HasPrefix(id, "fabric.") {
		return fmt.Errorf("store agent %s: %w", id, ErrReserved)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[id+"@"+version] = a
	return nil
}

// Roles returns the roles that the agent may act in.
func (s *Store) Roles(id, version string) ([]string, error) {
	a, err := s.find(id, version)
	if err != nil && !errors.Is(err, ErrTampered) {
		return nil, err
	}
	return a.Roles, nil // of a tampered agent none; Policy refuses it by name
}

// Policy returns the certified policy out of the signed agent.
func (s *Store) Policy(id, version string) (contract.AssistancePolicy, error) {
	a, err := s.find(id, version)
	return a.Assistance, err
}

// List names the agents that a user sees, as "id@version".
func (s *Store) List() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]string, 0, len(s.agents))
	for k := range s.agents {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func (s *Store) find(id, version string) (Agent, error) {
	s.mu.RLock()
	raw, ok := s.agents[id+"@"+version]
	sum := raw.sum()
	a, seen := s.good[sum]
	s.mu.RUnlock()
	if !ok {
		return Agent{}, fmt.Errorf("find agent %s %s: %w", id, version, ErrUnknown)
	}
	if seen {
		return a, named(a, id, version)
	}
	if !ed25519.Verify(s.pub, raw.Payload, raw.Signature) {
		return Agent{}, fmt.Errorf("find agent %s %s: %w", id, version, ErrTampered)
	}
	dec := json.NewDecoder(bytes.NewReader(raw.Payload))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return Agent{}, fmt.Errorf("read agent %s %s: %v: %w", id, version, err, ErrTampered)
	}
	policy, err := contract.Encode(a.Assistance)
	if err == nil {
		err = contract.Check[contract.AssistancePolicy](policy)
	}
	if err != nil {
		return Agent{}, fmt.Errorf("read agent %s %s: %v: %w", id, version, err, ErrTampered)
	}
	s.mu.Lock()
	s.good[sum] = a
	s.mu.Unlock()
	return a, named(a, id, version)
}

// named refuses a validly signed agent that stands under another's name.
func named(a Agent, id, version string) error {
	if a.ID != id || a.Version != version {
		return fmt.Errorf("find agent %s %s: signed for %s %s: %w", id, version, a.ID, a.Version, ErrTampered)
	}
	return nil
}
