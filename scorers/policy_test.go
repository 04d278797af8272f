package scorers

import (
	"errors"
	"strings"
	"testing"
)

// The shipped policy parses, binds every required row and opens nothing but
// what has no check yet.
func TestPhase1Policy(t *testing.T) {
	p := Phase1()
	bound := map[string]bool{}
	for _, b := range p.Bound {
		bound[b.ID] = b.Open != "" || len(b.Gates) > 0
	}
	for _, id := range requiredBound {
		if !bound[id] {
			t.Errorf("%s is bound to nothing", id)
		}
	}
	for _, r := range rules() {
		if _, open := p.Open[r.id]; open != (r.judge == nil) {
			t.Errorf("%s: open %v, has a check %v", r.id, open, r.judge != nil)
		}
	}
}

func TestPolicyStrict(t *testing.T) {
	good := string(phase1)
	for name, change := range map[string][2]string{
		"unknown key":       {"version: 1", "version: 1\nlatency: 3"},
		"unknown limit":     {"power: 0.8", "powr: 0.8"},
		"looser ratio":      {"latency_ratio: 2", "latency_ratio: 2.5"},
		"zero ratio":        {"latency_ratio: 2", "latency_ratio: 0"},
		"NaN":               {"accuracy_gain: 0", "accuracy_gain: .nan"},
		"negative gain":     {"accuracy_gain: 0", "accuracy_gain: -1"},
		"less power":        {"power: 0.8", "power: 0.1"},
		"no exposures":      {"writes: 30", "writes: 0"},
		"unknown counter":   {"writes: 30", "writes: 30\n  writs: 30"},
		"unknown gate":      {"G2.terminal: canc", "G9.terminal: canc"},
		"unknown proof":     {"gates: [S1.writes, S2", "gates: [S9.writes, S2"},
		"unknown row":       {"id: R3", "id: R9"},
		"self-test by fiat": {"self_tests: {}", "self_tests: {writes: yes}"},
		"not YAML":          {"name: phase1", "name: ["},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%s changes nothing", name)
		}
		if _, err := ParsePolicy("p.yaml", []byte(bad)); !errors.Is(err, ErrPolicy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParsePolicy("p.yaml", nil); !errors.Is(err, ErrPolicy) {
		t.Errorf("an empty policy: %v", err)
	}
}

func FuzzParsePolicy(f *testing.F) {
	f.Add(phase1)
	f.Add([]byte("limits: {latency_ratio: 1}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := ParsePolicy("p", data); err == nil && p.check() != nil {
			t.Error("an accepted policy does not check")
		}
	})
}
