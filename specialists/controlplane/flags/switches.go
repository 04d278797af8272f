// Package flags stands in for fabric_ai.enabled and fabric_core.enabled with
// their Settings (F-037, Q-30): two independent switches, an emergency stop
// and one process override. It refuses to know who flips them; that is the
// decision engine's.
package flags

import (
	"context"
	"errors"
	"sync"
)

// ErrOff is the cancellation cause of work that the master switch ended.
var ErrOff = errors.New("the specialist layer was switched off")

// Settings is the persisted state.
type Settings struct {
	Core          bool // fabric_core.enabled
	Models        bool // fabric_ai.enabled
	EmergencyStop bool
}

// Switches is safe for concurrent use. The zero Switches are all off.
type Switches struct {
	mu       sync.Mutex
	s        Settings
	override string // FABRIC_CORE: "", "0" or "1"
	bound    map[int]context.CancelCauseFunc
	next     int
}

// New returns switches on the settings. override is the value of FABRIC_CORE:
// 0 disables whatever the settings say, 1 enables but never lifts a persisted
// emergency stop, empty leaves it to the settings, and anything else disables.
func New(s Settings, override string) *Switches { return &Switches{s: s, override: override} }

// On returns switches that are both on, without override.
func On() *Switches { return New(Settings{Core: true, Models: true}, "") }

func (w *Switches) core() bool {
	if w.s.EmergencyStop {
		return false
	}
	switch w.override {
	case "":
		return w.s.Core
	case "1":
		return true
	default:
		return false
	}
}

// CoreEnabled reports whether the specialist layer is active.
func (w *Switches) CoreEnabled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.core()
}

// ModelsEnabled reports whether models are available. It says nothing about
// the specialist layer, nor the other way round.
func (w *Switches) ModelsEnabled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.s.Models
}

// Set replaces the settings. When it returns with the layer off, every bound
// context has ended.
func (w *Switches) Set(s Settings) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.s = s
	if w.core() {
		return
	}
	for id, cancel := range w.bound {
		cancel(ErrOff)
		delete(w.bound, id)
	}
}

// Bind returns a context that ends with cause ErrOff when the layer is
// switched off while it is bound. The release must be called.
func (w *Switches) Bind(ctx context.Context) (context.Context, func()) {
	bound, cancel := context.WithCancelCause(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bound == nil {
		w.bound = map[int]context.CancelCauseFunc{}
	}
	id := w.next
	w.next++
	w.bound[id] = cancel
	return bound, func() {
		w.mu.Lock()
		delete(w.bound, id)
		w.mu.Unlock()
		cancel(nil)
	}
}
