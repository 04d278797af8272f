package route

import (
	"time"

	"github.com/fabriccore/assay/specialists/contract"
)

// Spec maps profiles to models, as a suite or a command line states it. A
// profile that is not in the map is no_model: the specialist does without.
type Spec struct {
	Name     string                         `yaml:"name" json:"name"`
	Profiles map[contract.Profile]ModelSpec `yaml:"profiles" json:"profiles"`
	// Combine are the route's own constants, chosen on development data; see
	// the specialist that reads them for their meaning.
	Combine map[string]float64 `yaml:"combine,omitempty" json:"combine,omitempty"`
}

// ModelSpec is one profile's model with every option that shapes its answer.
type ModelSpec struct {
	// Model is a catalogue name ("smollm2") or a tag on the server.
	Model   string  `yaml:"model" json:"model"`
	Options Options `yaml:"options" json:"options"`
}

// Options are always set and recorded (H-005, design §6). Sizes are tokens.
type Options struct {
	NumCtx      int           `yaml:"num_ctx" json:"num_ctx"`
	NumPredict  int           `yaml:"num_predict" json:"num_predict"`
	NumThread   int           `yaml:"num_thread" json:"num_thread"`
	Seed        int           `yaml:"seed" json:"seed"`
	Temperature float64       `yaml:"temperature" json:"temperature"`
	KeepAlive   time.Duration `yaml:"keep_alive" json:"keep_alive"`
	Think       bool          `yaml:"think" json:"think"`
}

// DefaultOptions are what a bare model tag gets.
func DefaultOptions(threads int) Options {
	return Options{NumCtx: 4096, NumPredict: boundPredict, NumThread: threads, Seed: 7, KeepAlive: 30 * time.Minute}
}
