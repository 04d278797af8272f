package benchmarks

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/route"
)

// root is the checkout seen from this package.
const root = ".."

func compileSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	for _, n := range []string{"suite", "routes"} {
		data, err := Schema(n)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("https://assay.example/"+n+".schema.json", doc); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile("https://assay.example/" + name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every shipped file reads, names its schema in the first line and satisfies
// it, from the checkout and from the binary alike.
func TestShippedFiles(t *testing.T) {
	check := func(file, schema string) {
		t.Helper()
		data, err := shipped.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(data), "\n")
		if !strings.HasPrefix(first, "# yaml-language-server: $schema=") || !strings.HasSuffix(first, "schema/"+schema+".schema.json") {
			t.Errorf("%s: first line %q", file, first)
		}
		var v any
		if err := yaml.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		asJSON, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		doc, _ := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
		if err := compileSchema(t, schema).Validate(doc); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	check("routes.yaml", "routes")
	for _, at := range []string{root, t.TempDir()} {
		for _, n := range SuiteNames(at) {
			if _, err := FindSuite(at, n); err != nil {
				t.Error(err)
			}
			check("suites/"+n+".yaml", "suite")
		}
	}
	if d := cmp.Diff([]string{"pilot", "route-choice", "smoke"}, SuiteNames(t.TempDir())); d != "" {
		t.Error(d)
	}
}

// The schemas know the same keys as the types.
func TestSchemasFollowTypes(t *testing.T) {
	for name, v := range map[string]any{
		"suite": Suite{}, "routes": struct {
			Routes map[string]route.Spec `yaml:"routes"`
		}{},
	} {
		data, _ := Schema(name)
		var s struct{ Properties map[string]any }
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		var want, got []string
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			if n, _, _ := strings.Cut(typ.Field(i).Tag.Get("yaml"), ","); n != "-" {
				want = append(want, n)
			}
		}
		for k := range s.Properties {
			got = append(got, k)
		}
		sort.Strings(want)
		sort.Strings(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

const good = `name: x
corpora:
  - name: c
arms:
  - deterministic
  - bare:r
`

const pinned = "sha256:30668cb66352c8b15b06bd6375dea7e25d9a9db11a1221c0d101d406c402cdc6"

// a suite whose parts, bounds or policy are easier to pass is
// no suite.
func TestBadSuites(t *testing.T) {
	for _, tc := range []struct{ name, yaml, want string }{
		{"unknown key", good + "repeat: 3\n", `s.yaml:7:1: unknown key "repeat"; did you mean "repeats"?`},
		{"unknown key with hyphen", good + "in-flight: 3\n", `s.yaml:7:1: unknown key "in-flight"; did you mean "in_flight"?`},
		{"unknown inner key", "name: x\ncorpora:\n  - name: c\n    digets: y\narms: [deterministic]\n", `s.yaml:4:5: unknown key "digets"; did you mean "digest"?`},
		{"far key", good + "zzzzzzzzzzzz: 3\n", `s.yaml:7:1: unknown key "zzzzzzzzzzzz"`},
		{"bad arm", strings.Replace(good, "bare:r", "bear:r", 1), `s.yaml:6:5: arm "bear:r" is not known`},
		{"twice", good + "  - deterministic\n", `s.yaml:7:5: arm deterministic stands twice`},
		{"no guess", good + "  - control:guess\n", `s.yaml:7:5: arm control:guess needs a guess`},
		{"candidate", good + "candidate: core:r\n", `s.yaml:7:12: candidate "core:r" is none of the arms; did you mean "bare:r"?`},
		{"reference", good + "latency_reference: deterministic\n", `s.yaml:7:20: latency_reference "deterministic"; it is a bare: arm`},
		{"repeats", good + "repeats: -1\n", `s.yaml:7:10: repeats is -1`},
		{"alpha", good + "alpha: .nan\n", `s.yaml:7:8: alpha is NaN`},
		{"loose alpha", good + "alpha: 0.4\n", `at most 0.05`},
		{"policy", good + "policy: lenient\n", `no gate policy "lenient"`},
		{"candidate kind", good + "candidate: bare:r\n", `candidate "bare:r"; it is a core: arm`},
		{"control kind", good + "control: bare:r\n", `control "bare:r"; it is a control: arm`},
		{"model in the baseline", good + "model_free: [bare:r]\n", `model_free[0] "bare:r"; it is a deterministic arm`},
		{"guess leaks under another name", strings.Replace(good, "- name: c", "- name: c\n    digest: "+pinned, 1) +
			"guess: {class: a, from: {name: d, digest: " + pinned + "}}\n", `which this suite asks`},
		{"digest", strings.Replace(good, "- name: c", "- name: c\n    digest: sha256:12", 1), `s.yaml:4:13: digest "sha256:12"`},
		{"corpus twice", strings.Replace(good, "- name: c", "- name: c\n  - name: c", 1), `corpus c stands twice`},
		{"type", good + "repeats: many\n", `s.yaml:7:10: `},
		{"route profile", good + "routes:\n  r:\n    profiles:\n      fast_extrakt: {model: m, options: {num_ctx: 1, num_predict: 1, num_thread: 1, keep_alive: 1m}}\n", `did you mean "fast_extract"?`},
		{"route options", good + "routes:\n  r:\n    profiles:\n      fast_extract: {model: m}\n", `sets num_ctx`},
		{"two documents", good + "---\n" + good, `more than one YAML document`},
		{"same key twice", good + "name: y\n", `s.yaml:7:1: `},
		{"guess leaks", good + "guess: {class: a, from: {name: c}}\n", `which this suite asks`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseSuite("s.yaml", []byte(tc.yaml), nil)
			if !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got  %v\nwant …%s", err, tc.want)
			}
		})
	}
}

// A bare model tag serves every generative profile (design §3); a named route
// wins over a tag of that name.
func TestRoutesOfArms(t *testing.T) {
	lib, err := Routes(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := AdHoc([]string{"corpus/some-v1"}, []string{"core:qwen2.5:0.5b", "bare:smollm2", "core:minilm-smollm2", "deterministic"}, lib)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := s.Route("core:qwen2.5:0.5b", 3)
	if err != nil || tag.Name != "qwen2.5:0.5b" || len(tag.Profiles) != 5 || tag.Profiles[contract.ProfileDeepPlan].Options.NumThread != 3 {
		t.Errorf("%+v %v", tag, err)
	}
	if _, ok := tag.Profiles[contract.ProfileRetrievalRank]; ok {
		t.Error("a generative tag serves embeddings")
	}
	named, _ := s.Route("core:minilm-smollm2", 3)
	if len(named.Profiles) != 3 || named.Profiles[contract.ProfileRetrievalRank].Model != "minilm" {
		t.Errorf("%+v", named)
	}
	if s.Name != "adhoc-some-v1" || s.Candidate != "core:qwen2.5:0.5b" || s.LatencyReference != "bare:smollm2" || s.ModelFree[0] != "deterministic" {
		t.Errorf("%+v", s)
	}
}

// everything that narrows or changes a suite is named.
func TestQ46Exploratory(t *testing.T) {
	s, err := ParseSuite("s.yaml", []byte(good), nil)
	if err != nil {
		t.Fatal(err)
	}
	seed := 9
	_, why, err := s.With(Overrides{
		Arms: []string{"deterministic"}, Seed: &seed, Repeats: 2, InFlight: 4, CallTimeout: 1e9,
		Selection: Selection{Limit: 3, Cases: []string{"a"}},
	}, nil)
	if err != nil || len(why) != 7 {
		t.Errorf("%q %v", why, err)
	}
	seed = s.Seed
	_, why, _ = s.With(Overrides{Arms: s.Arms, Seed: &seed, Repeats: 1, InFlight: 1}, nil)
	if len(why) != 0 {
		t.Errorf("nothing was changed: %q", why)
	}
	c := synthetic(1, 1)
	c.Meta.Synthetic = true
	got := s.Exploratory(nil, corpora(c), true, true)
	if len(got) != 4 { // not frozen, synthetic, dirty, replay
		t.Errorf("%q", got)
	}
}
