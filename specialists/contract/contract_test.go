package contract

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files")

// roundTrip holds one shape's type, schema, encoder and decoder together.
func roundTrip[T any](t *testing.T, gen func(*rapid.T) T) {
	name := SchemaName[T]()
	t.Run(name, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			v := gen(t)
			raw, err := Encode(v)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode[T](raw)
			if err != nil {
				t.Fatalf("%v\n%s", err, raw)
			}
			if d := cmp.Diff(Filled(v), got); d != "" {
				t.Fatal(d)
			}
			if bytes.Contains(raw, []byte(":null")) && !bytes.Contains(raw, []byte(`"recommended_task_class_next":null`)) &&
				!bytes.Contains(raw, []byte(`"required_task_class":null`)) {
				t.Fatalf("null on the wire: %s", raw)
			}
		})
		golden(t, name, gen)
	})
}

// golden keeps one example of each shape byte for byte.
func golden[T any](t *testing.T, name string, gen func(*rapid.T) T) {
	file := filepath.Join("testdata", "golden", name+".json")
	if *update {
		v := rapid.Custom(gen).Example(7)
		raw, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(raw, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Decode[T](bytes.TrimSpace(want))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Encode(v)
	if err != nil || string(got)+"\n" != string(want) {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

func TestF061toF070_RoundTrip(t *testing.T) {
	roundTrip(t, genRequest)
	roundTrip(t, genResponse)
	roundTrip(t, genSufficiency)
	roundTrip(t, func(t *rapid.T) ContextPolicyDigest {
		d, err := NewDigest(genComponents(t), testKey)
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
	roundTrip(t, genAssessment)
	roundTrip(t, genResult)
	roundTrip(t, genDefinition)
	roundTrip(t, genPolicy)
	roundTrip(t, genMicro)
	roundTrip(t, genTaxonomy)
	roundTrip(t, genItem)
	roundTrip(t, genReceipt)
}

// Every field of a Go shape is a property of its schema and the reverse.
func TestF060_SchemasAgreeWithTypes(t *testing.T) {
	for typ, w := range wire {
		raw, err := schemaFiles.ReadFile("schema/" + w.name + ".v1.json")
		if err != nil {
			t.Fatal(err)
		}
		var s schemaNode
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		agree(t, w.name, typ, s)
		for _, path := range additive[typ] {
			if len(path) <= 2 && path[0] != "recommendation" && !s.has(path) {
				t.Errorf("%s: additive field %v is not in the schema", w.name, path)
			}
		}
	}
}

type schemaNode struct {
	AdditionalProperties any                    `json:"additionalProperties"`
	Properties           map[string]*schemaNode `json:"properties"`
	Items                *schemaNode            `json:"items"`
}

func (s schemaNode) has(path []string) bool {
	n, ok := s.Properties[path[0]]
	return ok && (len(path) == 1 || n.has(path[1:]))
}

func agree(t *testing.T, at string, typ reflect.Type, s schemaNode) {
	if s.AdditionalProperties != false {
		t.Errorf("%s: additionalProperties is not false", at)
	}
	var fields []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, name)
		sub, ok := s.Properties[name]
		if !ok {
			continue
		}
		ft := f.Type
		if ft.Kind() == reflect.Slice && sub.Items != nil {
			ft, sub = ft.Elem(), sub.Items
		}
		if ft.Kind() == reflect.Struct && len(sub.Properties) > 0 {
			agree(t, at+"."+name, ft, *sub)
		}
	}
	slices.Sort(fields)
	if d := cmp.Diff(slices.Sorted(maps.Keys(s.Properties)), fields); d != "" {
		t.Errorf("%s: schema and type differ: %s", at, d)
	}
}

func TestF068_DefinitionHas22RequiredFields(t *testing.T) {
	var full map[string]any
	raw, err := Encode(rapid.Custom(genDefinition).Example(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &full); err != nil || len(full) != 22 {
		t.Fatalf("%d fields, %v", len(full), err)
	}
	for k := range full {
		less := maps.Clone(full)
		delete(less, k)
		raw, _ := json.Marshal(less)
		wantFault[CoreAgentDefinition](t, string(raw), FaultMissingKey, "/"+k)
	}
	full["write_policy"] = "staging"
	raw, _ = json.Marshal(full)
	wantFault[CoreAgentDefinition](t, string(raw), FaultEnum, "/write_policy")
}

func wantFault[T any](t *testing.T, raw string, k FaultKind, at string) {
	t.Helper()
	_, err := Decode[T]([]byte(raw))
	var d *DecodeError
	if !errors.As(err, &d) || d.Kind != k || d.Pointer != at {
		t.Errorf("got %v, want %s at %s", err, k, at)
	}
}

const okAssessment = `{"failure_class":"a","root_cause_hypotheses":[{"cause":"","evidence_refs":[],"confidence_inputs":{}}],"impacted_symbols":[],` +
	`"evidence":[],"assumptions":[],"unresolved_questions":[],"recommended_task_class_next":null,"provenance":[]}`

func TestF060_MalformedIsTypedFailure(t *testing.T) {
	if _, err := Decode[FailureAssessment]([]byte(okAssessment)); err != nil {
		t.Fatal(err)
	}
	re := func(old, new string) string { return strings.Replace(okAssessment, old, new, 1) }
	for name, c := range map[string]struct {
		raw string
		k   FaultKind
		at  string
	}{
		"empty":           {"", FaultSyntax, ""},
		"truncated":       {okAssessment[:60], FaultSyntax, "/root_cause_hypotheses/0"},
		"prose before":    {"Here it is: " + okAssessment, FaultSyntax, ""},
		"prose after":     {okAssessment + " hope it helps", FaultTrailing, ""},
		"two documents":   {okAssessment + okAssessment, FaultTrailing, ""},
		"extra key":       {re(`"evidence":[]`, `"evidence":[],"confidence":1`), FaultUnknownKey, "/confidence"},
		"extra deep key":  {re(`"cause":""`, `"cause":"","confidence":0.9`), FaultUnknownKey, "/root_cause_hypotheses/0/confidence"},
		"wrong case key":  {re(`"evidence":[]`, `"Evidence":[]`), FaultMissingKey, "/evidence"},
		"duplicate key":   {re(`"evidence":[]`, `"evidence":[],"evidence":[]`), FaultDuplicateKey, "/evidence"},
		"duplicate deep":  {re(`"cause":""`, `"cause":"","cause":"x"`), FaultDuplicateKey, "/root_cause_hypotheses/0/cause"},
		"escaped twin":    {re(`"evidence":[]`, `"evidence":[],"e\u0076idence":[]`), FaultDuplicateKey, "/evidence"},
		"wrong type":      {re(`"failure_class":"a"`, `"failure_class":7`), FaultType, "/failure_class"},
		"null array":      {re(`"evidence":[]`, `"evidence":null`), FaultType, "/evidence"},
		"unknown member":  {re(`next":null`, `next":"agent_build"`), FaultEnum, "/recommended_task_class_next"},
		"NaN":             {re(`"confidence_inputs":{}`, `"confidence_inputs":{"a":NaN}`), FaultSyntax, "/root_cause_hypotheses/0/confidence_inputs/a"},
		"infinite":        {re(`"confidence_inputs":{}`, `"confidence_inputs":{"a":1e999}`), FaultValue, "/root_cause_hypotheses/0/confidence_inputs/a"},
		"bad UTF-8":       {re(`"a"`, "\"\xff\""), FaultUTF8, ""},
		"lone surrogate":  {re(`"a"`, `"\ud800"`), FaultUTF8, "/failure_class"},
		"depth bomb":      {strings.Repeat("[", 1000), FaultDepth, "/" + strings.TrimSuffix(strings.Repeat("0/", maxDepth), "/")},
		"above the bound": {`"` + strings.Repeat("a", 3<<20) + `"`, FaultSize, ""},
		"not an object":   {`[]`, FaultType, ""},
	} {
		t.Run(name, func(t *testing.T) { wantFault[FailureAssessment](t, c.raw, c.k, c.at) })
	}
}

func TestF061_UnknownMembersRefused(t *testing.T) {
	raw, err := Encode(GatewayRequest{Caller: Caller{System: SystemRAG}, Task: Task{Type: TaskAgentBuild}})
	if err != nil {
		t.Fatal(err)
	}
	s := string(raw)
	wantFault[GatewayRequest](t, strings.Replace(s, `"rag"`, `"mail"`, 1), FaultEnum, "/caller/system")
	wantFault[GatewayRequest](t, strings.Replace(s, `"agent_build"`, `"chat"`, 1), FaultEnum, "/task/type")
	wantFault[GatewayRequest](t, strings.Replace(s, `"budget":{}`, `"budget":{"token_budget":1.5}`, 1), FaultType, "/budget/token_budget")
	wantFault[GatewayRequest](t, strings.Replace(s, `"budget":{}`, `"budget":{"token_budget":1.0}`, 1), FaultType, "/budget/token_budget")
}

func TestF064_TaskClassIffSpecialistRequired(t *testing.T) {
	c := TaskFailureAnalysis
	for _, d := range []DeterministicSufficiency{
		{Verdict: SufficiencySpecialistRequired, ReasonCode: "x"},
		{Verdict: SufficiencyBlocked, ReasonCode: "x", RequiredTaskClass: &c},
		{Verdict: SufficiencyResolved, ReasonCode: "x"},
		{Verdict: SufficiencyBlocked, ReasonCode: "x", ResolvedResult: json.RawMessage(`{"a":1}`)},
	} {
		if err := Valid(d); err == nil {
			t.Errorf("accepted %+v", d)
		}
	}
}

func TestQ01_StrictStatusAndQ28_SeedShape(t *testing.T) {
	rec, _ := Encode(FailureAssessment{FailureClass: "a", RootCauseHypotheses: []Hypothesis{{FailureClass: "a"}}})
	r := GatewayResponse{Status: StatusCancelled, ReasonCode: ReasonCoreDisabled, TraceID: "t", Recommendation: rec}
	if s := StrictStatus(r); s.Status != StatusFailed || s.ReasonCode != ReasonCancelled {
		t.Errorf("got %s %s", s.Status, s.ReasonCode)
	}
	raw, err := EncodeSeed(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode[GatewayResponse](raw); err != nil {
		t.Errorf("the seed's shape is not accepted: %v", err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	want := []string{"assumptions", "confidence_inputs", "conflicts", "evidence", "metrics", "no_direct_writes", "recommendation",
		"specialists_used", "status", "trace_id", "unresolved_items"}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(m))); d != "" {
		t.Error(d)
	}
	if m["status"] != "failed" || !strings.Contains(string(raw), `"reason_code:cancelled"`) || strings.Count(string(raw), `"failure_class"`) != 1 {
		t.Errorf("%s", raw)
	}
	req, err := EncodeSeed(GatewayRequest{Caller: Caller{System: SystemRAG, UserID: "u"}, Task: Task{Type: TaskAgentBuild, TaxonomyDigest: Sum(nil)}})
	if err != nil || bytes.Contains(req, []byte("user_id")) || bytes.Contains(req, []byte("taxonomy")) {
		t.Errorf("%v %s", err, req)
	}
}

var testKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

func TestF065_EachComponentChangesTheDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := genComponents(t)
		base, err := NewDigest(c, testKey)
		if err != nil {
			t.Fatal(err)
		}
		if err := VerifyDigest(base, testKey.Public().(ed25519.PublicKey)); err != nil {
			t.Fatal(err)
		}
		with := func(m map[string]string) map[string]string { m = maps.Clone(m); m["+new"] = "1"; return m }
		for name, change := range map[string]func(*DigestComponents){
			"workspace_id":              func(c *DigestComponents) { c.WorkspaceID += "x" },
			"branch_id":                 func(c *DigestComponents) { c.BranchID += "x" },
			"capability_versions":       func(c *DigestComponents) { c.CapabilityVersions = with(c.CapabilityVersions) },
			"source_freshness":          func(c *DigestComponents) { c.SourceFreshness = with(c.SourceFreshness) },
			"model_provider_policy":     func(c *DigestComponents) { c.ModelProviderPolicy += "x" },
			"assistance_policy_version": func(c *DigestComponents) { c.AssistancePolicyVersion += "x" },
			"task_type": func(c *DigestComponents) {
				c.TaskType = taskClasses[(slices.Index(taskClasses, c.TaskType)+1)%len(taskClasses)]
			},
			"evidence_refs": func(c *DigestComponents) { c.EvidenceRefs = append(slices.Clone(c.EvidenceRefs), "ws/new") },
		} {
			other := c
			change(&other)
			if got, _ := other.Sum(); got == base.Digest {
				t.Fatalf("%s does not change the digest", name)
			}
		}
		shuffled := c
		shuffled.EvidenceRefs = rapid.Permutation(append(slices.Clone(c.EvidenceRefs), c.EvidenceRefs...)).Draw(t, "order")
		if got, _ := shuffled.Sum(); got != base.Digest {
			t.Fatal("the order of evidence_refs changes the digest")
		}
	})
}

func TestF065_BadSignature(t *testing.T) {
	d, err := NewDigest(DigestComponents{WorkspaceID: "w", TaskType: TaskFailureAnalysis}, testKey)
	if err != nil {
		t.Fatal(err)
	}
	pub := testKey.Public().(ed25519.PublicKey)
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	for name, c := range map[string]struct {
		d    func(ContextPolicyDigest) ContextPolicyDigest
		pub  ed25519.PublicKey
		want error
	}{
		"other key":  {func(d ContextPolicyDigest) ContextPolicyDigest { return d }, other, ErrDigestSignature},
		"no key":     {func(d ContextPolicyDigest) ContextPolicyDigest { return d }, nil, ErrDigestSignature},
		"signature":  {func(d ContextPolicyDigest) ContextPolicyDigest { d.Signature = "AAAA"; return d }, pub, ErrDigestSignature},
		"none":       {func(d ContextPolicyDigest) ContextPolicyDigest { d.Signature = ""; return d }, pub, ErrDigestSignature},
		"signer":     {func(d ContextPolicyDigest) ContextPolicyDigest { d.SignedBy = "me"; return d }, pub, ErrDigestSignature},
		"components": {func(d ContextPolicyDigest) ContextPolicyDigest { d.Components.BranchID = "b"; return d }, pub, ErrDigestMismatch},
	} {
		if err := VerifyDigest(c.d(d), c.pub); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
