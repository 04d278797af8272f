package runner

import (
	"strings"
	"testing"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/route"
)

// H-004, design §3: every part of a fingerprint that moves is drift, with its
// name; what could not be read is none.
func TestH004Drift(t *testing.T) {
	base := func() journal.Route {
		return journal.Route{Name: "r", ServerVersion: "1", Profiles: []journal.ProfileModel{{
			Profile: contract.ProfileFastExtract, Tag: "m", Digest: "d", Template: "t", Options: map[string]any{"seed": 7}, NumCtx: 4096,
		}}}
	}
	for want, change := range map[string]func(*journal.Route){
		"route was":      func(r *journal.Route) { r.Name = "x" },
		"server version": func(r *journal.Route) { r.ServerVersion = "2" },
		"model tag":      func(r *journal.Route) { r.Profiles[0].Tag = "x" },
		"model digest":   func(r *journal.Route) { r.Profiles[0].Digest = "x" },
		"template":       func(r *journal.Route) { r.Profiles[0].Template = "x" },
		"options":        func(r *journal.Route) { r.Profiles[0].Options = map[string]any{"seed": 8} },
		"num_ctx":        func(r *journal.Route) { r.Profiles[0].NumCtx = 2048 },
		"is gone":        func(r *journal.Route) { r.Profiles = nil },
		"is new":         func(r *journal.Route) { r.Profiles[0].Profile = contract.ProfileDeepPlan },
	} {
		other := base()
		change(&other)
		if got := drifted(base(), other); !strings.Contains(got, want) {
			t.Errorf("%s: got %q", want, got)
		}
	}
	same := base()
	same.When, same.Profiles[0].NumCtx = after, 0
	same.Profiles[0].Options = map[string]any{"seed": 7.0} // as JSON reads it back
	if got := drifted(base(), same); got != "" {
		t.Errorf("got %q", got)
	}
}

// A model that is served with another digest than the plan's makes the run
// invalid from its first line.
func TestPlannedDigest(t *testing.T) {
	arm := benchmarks.Arm{
		Route:        &route.Spec{Profiles: map[contract.Profile]route.ModelSpec{contract.ProfileRetrievalRank: {}, contract.ProfileFastExtract: {}}},
		ModelDigests: []string{"sha256:fast", "rank"}, // in profile order
	}
	served := func(fast, rank string) journal.Route {
		return journal.Route{Profiles: []journal.ProfileModel{
			{Profile: contract.ProfileRetrievalRank, Digest: rank}, {Profile: contract.ProfileFastExtract, Digest: fast},
		}}
	}
	if got := planned(arm, served("fast", "sha256:rank")); got != "" {
		t.Errorf("got %q", got)
	}
	if got := planned(arm, served("fast", "other")); !strings.Contains(got, "retrieval_rank") {
		t.Errorf("got %q", got)
	}
	if got := planned(benchmarks.Arm{}, journal.Route{}); got != "" {
		t.Errorf("got %q", got)
	}
}
