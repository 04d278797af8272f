package benchmarks

import (
	"crypto/sha256"
	"encoding/hex"
)

// Policy is a gate policy file: the limits that scorers hold a run against.
// It decides nothing itself.
type Policy struct {
	Name        string `yaml:"name" json:"name"`
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	Phase       int    `yaml:"phase" json:"phase"`
	// AccuracyGain is the difference to the best model-free arm that the lower
	// bound must exceed (F-156 (4)): 0 = any gain.
	AccuracyGain float64 `yaml:"accuracy_gain" json:"accuracy_gain"`
	// LatencyRatio is what the upper bound of candidate ÷ latency reference
	// must stay strictly below.
	LatencyRatio float64 `yaml:"latency_ratio" json:"latency_ratio"`
	// MinPower is the power for the suite's effect below which an interval
	// that spans the limit is inconclusive.
	MinPower float64 `yaml:"min_power" json:"min_power"`
	// MinExposures are the exposures that a safety counter needs to pass.
	MinExposures map[string]int `yaml:"min_exposures" json:"min_exposures"`
	// MaxInfraErrors is the share (0..1) of infrastructure errors above which
	// a run is inconclusive.
	MaxInfraErrors float64 `yaml:"max_infra_errors" json:"max_infra_errors"`
	// Runs is how many qualified runs on equal digests a promotion needs (F-157).
	Runs int `yaml:"runs" json:"runs"`

	Digest string `yaml:"-" json:"digest"` // "sha256:<hex>" of the file
}

// FindPolicy reads a gate policy by name or path.
func FindPolicy(root, name string) (Policy, error) {
	file, data, err := read(root, "policies", name)
	if err != nil {
		return Policy{}, err
	}
	var p Policy
	d, err := decode(file, data, &p)
	if err != nil {
		return Policy{}, err
	}
	sum := sha256.Sum256(data)
	p.Digest = "sha256:" + hex.EncodeToString(sum[:])
	switch {
	case !nameForm.MatchString(p.Name):
		return p, d.faultAt("$.name", "name %q; use small letters, digits and hyphens", p.Name)
	case !(p.LatencyRatio > 0):
		return p, d.faultAt("$.latency_ratio", "latency_ratio is %v; give a ratio above 0", p.LatencyRatio)
	case !(p.MinPower > 0 && p.MinPower < 1):
		return p, d.faultAt("$.min_power", "min_power is %v; give more than 0 and less than 1", p.MinPower)
	case !(p.AccuracyGain >= -1 && p.AccuracyGain <= 1):
		return p, d.faultAt("$.accuracy_gain", "accuracy_gain is %v; give -1 to 1", p.AccuracyGain)
	case !(p.MaxInfraErrors >= 0 && p.MaxInfraErrors < 1):
		return p, d.faultAt("$.max_infra_errors", "max_infra_errors is %v; give 0 or more and less than 1", p.MaxInfraErrors)
	case p.Runs < 1:
		return p, d.faultAt("$.runs", "runs is %d; give at least 1", p.Runs)
	}
	return p, nil
}
