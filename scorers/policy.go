package scorers

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// ErrPolicy is a gate policy that can't be used.
var ErrPolicy = errors.New("gate policy")

// Policy is a gate policy file: the limits of the rows in this package, what
// is open, and which rows prove a posture word or a rule. It can only make
// gates stricter than "not measured"; no setting lets an open or missing row
// pass.
type Policy struct {
	Name    string `yaml:"name" json:"name"`
	Version int    `yaml:"version" json:"version"`
	Limits  Limits `yaml:"limits" json:"limits"`
	// MinExposures maps a safety counter to the distinct cases a pass needs.
	MinExposures map[string]int `yaml:"min_exposures" json:"min_exposures"`
	// SelfTests maps a safety counter to "raised" once its own self-test
	// raises it through the public path; absent = open.
	SelfTests map[string]string `yaml:"self_tests" json:"self_tests"`
	// Open maps a row's id to why it can't be judged yet.
	Open  map[string]string `yaml:"open" json:"open"`
	Bound []Bound           `yaml:"bound" json:"bound"`
}

// Limits are the numbers that rows are judged against.
type Limits struct {
	AccuracyGain  float64 `yaml:"accuracy_gain" json:"accuracy_gain"`   // difference in accuracy, exclusive
	LatencyRatio  float64 `yaml:"latency_ratio" json:"latency_ratio"`   // ×, exclusive
	Power         float64 `yaml:"power" json:"power"`                   // 0..1
	MaxLeftOut    float64 `yaml:"max_left_out" json:"max_left_out"`     // share of pairs
	MaxCensored   float64 `yaml:"max_censored" json:"max_censored"`     // share of pairs
	CaseRows      int     `yaml:"case_rows" json:"case_rows"`           // rows
	EvidenceChars int     `yaml:"evidence_chars" json:"evidence_chars"` // characters an item
}

// Bound is a row that other rows prove: its verdict is the worst of theirs.
type Bound struct {
	ID       string   `yaml:"id" json:"id"`
	Requires string   `yaml:"requires" json:"requires"`
	Gates    []string `yaml:"gates,omitempty" json:"gates,omitempty"`
	Open     string   `yaml:"open,omitempty" json:"open,omitempty"`
}

// requiredBound are the rows that a report must have (F-001, F-003); one that
// a policy leaves out, or binds to nothing, makes the report not_qualified.
var requiredBound = []string{
	"F-001.advisory", "F-001.read_only", "F-001.bounded", "F-001.fail_closed", "F-001.reversible",
	"R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8",
}

//go:embed policy/phase1.yaml
var phase1 []byte

// Phase1 is the shipped policy of phase 1.
func Phase1() Policy {
	p, err := ParsePolicy("phase1.yaml", phase1)
	if err != nil {
		panic(err) // the file is part of the binary; a test parses it
	}
	return p
}

// ParsePolicy reads a policy file strictly: an unknown key is an error with
// its place, and so is an id of a row that does not exist.
func ParsePolicy(name string, data []byte) (Policy, error) {
	var p Policy
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), yaml.DisallowUnknownField())
	if err := d.Decode(&p); err != nil {
		return Policy{}, fmt.Errorf("%w: %s: %s", ErrPolicy, name, strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	if err := p.check(); err != nil {
		return Policy{}, fmt.Errorf("%w: %s: %w", ErrPolicy, name, err)
	}
	return p, nil
}

func (p Policy) check() error {
	l := p.Limits
	for name, x := range map[string]float64{"accuracy_gain": l.AccuracyGain, "latency_ratio": l.LatencyRatio,
		"power": l.Power, "max_left_out": l.MaxLeftOut, "max_censored": l.MaxCensored} {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return fmt.Errorf("limits.%s: %v is out of range", name, x)
		}
	}
	switch {
	case l.LatencyRatio <= 0 || l.LatencyRatio > 2:
		return fmt.Errorf("limits.latency_ratio: %v is not in (0, 2] (F-156)", l.LatencyRatio)
	case l.Power < 0.8 || l.Power > 1:
		return fmt.Errorf("limits.power: %v is not in [0.8, 1] (Q-42)", l.Power)
	case l.MaxLeftOut > 1 || l.MaxCensored > 1:
		return errors.New("limits: a share is above 1")
	case l.CaseRows < 1 || l.EvidenceChars < 1:
		return errors.New("limits: case_rows and evidence_chars must be at least 1")
	}
	for _, c := range counterNames {
		if p.MinExposures[c] < 1 {
			return fmt.Errorf("min_exposures.%s: must be at least 1", c)
		}
	}
	for c := range p.MinExposures {
		if !slices.Contains(counterNames, c) {
			return fmt.Errorf("min_exposures: no counter %q", c)
		}
	}
	for c, v := range p.SelfTests {
		if !slices.Contains(counterNames, c) || v != "raised" {
			return fmt.Errorf("self_tests: %s: %s: want a counter's name and \"raised\"", c, v)
		}
	}
	for id := range p.Open {
		if !hasRule(id) {
			return fmt.Errorf("open: no gate %q", id)
		}
	}
	for _, b := range p.Bound {
		if !slices.Contains(requiredBound, b.ID) {
			return fmt.Errorf("bound: no row %q", b.ID)
		}
		for _, g := range b.Gates {
			if !hasRule(g) {
				return fmt.Errorf("bound: %s: no gate %q", b.ID, g)
			}
		}
	}
	return nil
}
