package scorers

import (
	"testing"
)

// The full path on fake outcomes. With G2, G3 and G5 unbuilt the best verdict
// is inconclusive, whatever the policy says.
func TestScoreFakeRun(t *testing.T) {
	f := newFake(20)
	r := f.score(t)
	t.Log(asJSON(t, r.Gates), asJSON(t, r.Comparisons), asJSON(t, r.Ratios), asJSON(t, r.Reasons), asJSON(t, r.Dimensions), asJSON(t, r.Arms[2]))
}
