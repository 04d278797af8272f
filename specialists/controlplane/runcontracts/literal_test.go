package runcontracts

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// anchors match nothing by themselves, and the generator knows none.
var anchors = regexp.MustCompile(`()\\b|(^|\(|\|)\^|()\$$|()\$(?:\||\))`)

// The literals that spare a rule its expression never hide a match: whatever
// matches also holds one of them.
func TestNeedlesHideNothing(t *testing.T) {
	e, err := New()
	if err != nil {
		t.Fatal(err)
	}
	without := 0
	for i := range e.rules {
		r := &e.rules[i]
		if r.needles == nil {
			without++
		}
		t.Run(r.ID, func(t *testing.T) {
			gen := rapid.StringMatching("(?i)" + anchors.ReplaceAllString(r.Pattern, "$1"))
			re := regexp.MustCompile("(?i)" + r.Pattern)
			rapid.Check(t, func(t *rapid.T) {
				s := gen.Draw(t, "line")
				if re.MatchString(s) && !r.holds(fold(s)) {
					t.Fatalf("%q matches %q but holds none of %q", s, r.Pattern, r.needles)
				}
			})
		})
	}
	if without > len(e.rules)/4 {
		t.Errorf("%d of %d rules have no literal to look for first", without, len(e.rules))
	}
}
