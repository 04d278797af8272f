package registry_test

import (
	"os"
	"strings"
	"testing"

	"github.com/fabriccore/assay/specialists"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/registry"
)

func TestF068_Load(t *testing.T) {
	raw, err := os.ReadFile("../investigator/definition.json")
	if err != nil {
		t.Fatal(err)
	}
	builtin := string(raw)
	r, err := specialists.Registry()
	if err != nil {
		t.Fatal(err)
	}
	d, ok := r.Get(registry.FailureInvestigator)
	if !ok || d.ModelRoutingPolicy.MaxModelCalls != 3 || d.ModelRoutingPolicy.MaxGenerativeCalls != 1 || d.TokenBudget != 8192 || d.MaxMicroFanout != 0 {
		t.Errorf("%+v", d)
	}
	for name, c := range map[string][2]string{
		"write policy": {`"write_policy": "none"`, `"write_policy": "staging"`},
		"no owner":     {`"owner": "fabric_core",`, ``},
		"empty owner":  {`"owner": "fabric_core"`, `"owner": ""`},
		"extra field":  {`"owner": "fabric_core"`, `"owner": "fabric_core", "executor": "x"`},
		"wildcard":     {`"evidence_selection"`, `"*"`},
		"foreign id":   {`"fabric.failure_investigator"`, `"forge.failure_investigator"`},
	} {
		if _, err := registry.Load([]byte(strings.Replace(builtin, c[0], c[1], 1))); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}

func TestF033_HiddenUnlessGoverned(t *testing.T) {
	r, err := specialists.Registry()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Visible("operator")) != 0 || len(r.Visible("")) != 0 || len(r.Visible(contract.SignedBy)) != 1 {
		t.Error("visibility")
	}
	if len(r.ForTask(contract.TaskFailureAnalysis)) != 1 || len(r.ForTask(contract.TaskRecoveryPlanning)) != 0 {
		t.Error("task classes")
	}
}
