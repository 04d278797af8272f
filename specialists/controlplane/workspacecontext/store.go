// Package workspacecontext stands in for workspace_context and fabric_rag
// (F-022): it owns evidence and serves it inside one workspace only. It
// refuses to read across workspaces and to judge what it serves.
package workspacecontext

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/workspaces"
)

// Errors of a read.
var (
	ErrUnknown        = errors.New("unknown evidence")
	ErrCrossWorkspace = errors.New("evidence of another workspace")
)

// The data classifications; restricted evidence never leaves the store
// through the gateway.
const (
	Public     = "public"
	Internal   = "internal"
	Restricted = "restricted"
)

// Store holds evidence by reference. It is safe for concurrent use.
type Store struct {
	mu    sync.RWMutex
	items map[string]entry
	// spaces counts the items of each workspace; one that was opened by hand
	// counts one more.
	spaces map[string]int
}

type entry struct {
	item  contract.EvidenceItem
	class string
}

// New returns a store that holds the items as internal.
func New(items ...contract.EvidenceItem) *Store {
	s := &Store{items: map[string]entry{}, spaces: map[string]int{}}
	s.Put(items...)
	return s
}

// Put adds or replaces items, classified internal.
func (s *Store) Put(items ...contract.EvidenceItem) { s.PutClassified(Internal, items...) }

// PutClassified adds or replaces items under a classification.
func (s *Store) PutClassified(class string, items ...contract.EvidenceItem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range items {
		if _, ok := s.items[it.Ref()]; !ok {
			s.spaces[it.Workspace]++
		}
		s.items[it.Ref()] = entry{it, class}
	}
}

// Drop removes items, so that a long replay stays flat in memory.
func (s *Store) Drop(items ...contract.EvidenceItem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range items {
		if _, ok := s.items[it.Ref()]; !ok {
			continue
		}
		delete(s.items, it.Ref())
		if s.spaces[it.Workspace]--; s.spaces[it.Workspace] <= 0 {
			delete(s.spaces, it.Workspace)
		}
	}
}

// Open makes a workspace exist without evidence.
func (s *Store) Open(workspace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spaces[workspace]++
}

// Exists reports whether the workspace is known.
func (s *Store) Exists(workspace string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.spaces[workspace] > 0
}

// Describe says what an item is without reading it.
func (s *Store) Describe(_ context.Context, ref string) (contract.EvidenceMeta, error) {
	e, ok := s.find(ref)
	if !ok {
		return contract.EvidenceMeta{}, fmt.Errorf("describe %q: %w", ref, ErrUnknown)
	}
	return contract.EvidenceMeta{
		Ref: ref, Source: e.item.Source, Workspace: e.item.Workspace, Classification: e.class, Bytes: len(e.item.Text),
	}, nil
}

// Resolve reads an item inside the session's workspace. A read without a
// session or of another workspace is refused; the latter is counted.
func (s *Store) Resolve(ctx context.Context, ref string) (contract.EvidenceItem, error) {
	cur, ok := workspaces.Current(ctx)
	if !ok {
		return contract.EvidenceItem{}, fmt.Errorf("read %q outside a request: %w", ref, ErrCrossWorkspace)
	}
	e, found := s.find(ref)
	if !found {
		return contract.EvidenceItem{}, fmt.Errorf("read %q: %w", ref, ErrUnknown)
	}
	if e.item.Workspace != cur.Workspace {
		cur.Tally.CrossWorkspaceTry.Add(1)
		return contract.EvidenceItem{}, fmt.Errorf("read %q: %w", ref, ErrCrossWorkspace)
	}
	return e.item, nil
}

func (s *Store) find(ref string) (entry, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := s.items[ref]
	return e, ok
}
