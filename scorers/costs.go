package scorers

import "github.com/fabriccore/assay/runner/journal"

// Cost is what one arm's trials used, retries included (F-151).
type Cost struct {
	Arm          string `json:"arm"`
	Trials       int    `json:"trials"`
	Calls        int    `json:"calls"` // to models
	Retries      int    `json:"retries"`
	PromptTokens int    `json:"prompt_tokens"`
	OutputTokens int    `json:"output_tokens"`
}

// add counts one trial.
func (c *Cost) add(t journal.Trial) {
	c.Trials++
	for _, k := range t.Calls {
		c.Calls++
		c.Retries += k.Retries
		c.PromptTokens += k.PromptTokens
		c.OutputTokens += k.OutputTokens
	}
}

// costs lists the arms' costs in arm order.
func (s *scoring) costs() []Cost {
	out := []Cost{}
	for _, name := range s.armNames() {
		if a := s.arms[name]; a != nil {
			c := a.cost
			c.Arm = name
			out = append(out, c)
		}
	}
	return out
}
