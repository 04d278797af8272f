package contract

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

// Every shape has a layout and a rule; without one it would be right but slow.
func TestShapesAreFast(t *testing.T) {
	for typ, w := range wire {
		if layoutOf(typ) == nil {
			t.Errorf("%s has no layout", w.name)
		}
		if rules()[w.name] == nil {
			t.Errorf("%s has no rule", w.name)
		}
	}
}

// slowly is Encode by way of encoding/json and gowebpki/jcs.
func slowly(t *rapid.T, v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	want, err := jcs.Transform(raw)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// sameAsSlow holds layout and rule of one shape to encoding/json, jcs and the
// schema library.
func sameAsSlow[T any](t *testing.T, gen func(*rapid.T) T) {
	name := wire[reflect.TypeFor[T]()].name
	t.Run(name, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			v := gen(t)
			for _, c := range []struct {
				got  func() ([]byte, error)
				want any
			}{{func() ([]byte, error) { return Encode(v) }, Filled(v)}, {func() ([]byte, error) { return Canonical(v) }, v}} {
				got, err := c.got()
				if want := slowly(t, c.want); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%v\n got %s\nwant %s", err, got, want)
				}
			}
			raw, _ := Encode(v)
			tape, err := scan(name, raw)
			if err != nil {
				t.Fatal(err)
			}
			defer tape.free()
			if !tape.accepts(0, rules()[name]) {
				t.Fatalf("the rule leaves a valid document to the library: %s", raw)
			}
			var got, want T
			if !layoutOf(reflect.TypeFor[T]()).read(tape, 0, reflect.ValueOf(&got).Elem()) {
				t.Fatalf("the layout leaves a valid document to encoding/json: %s", raw)
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatal(d)
			}
			neverLaxer[T](t, spoil(t, raw))
		})
	})
}

// neverLaxer holds what the fast way accepts to what the slow way does, and
// what both read out of it to each other.
func neverLaxer[T any](t rapid.TB, raw []byte) {
	name := wire[reflect.TypeFor[T]()].name
	tape, err := scan(name, raw)
	if err != nil {
		return
	}
	defer tape.free()
	if !tape.accepts(0, rules()[name]) {
		return
	}
	if err := compiled()[name].Validate(tape.tree(0)); err != nil {
		t.Fatalf("the rule accepts what the library refuses: %v\n%s", err, raw)
	}
	var got, want T
	if !layoutOf(reflect.TypeFor[T]()).read(tape, 0, reflect.ValueOf(&got).Elem()) {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&want); err != nil {
		t.Fatalf("the layout reads what encoding/json refuses: %v\n%s", err, raw)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s\n%s", d, raw)
	}
}

// spoil replaces one value or key of a document by something else.
func spoil(t *rapid.T, raw []byte) []byte {
	tape, err := scan("x", raw)
	if err != nil {
		t.Fatal(err)
	}
	defer tape.free()
	n := tape.nodes[rapid.IntRange(0, len(tape.nodes)-1).Draw(t, "node")]
	other := rapid.SampledFrom([]string{
		"null", "true", "0", "-0", "1.0", "1e3", "-1", "0.5", "-1e-400", "9007199254740993", "1e30", `""`, `"a"`, `"\u0061"`, `"` + strings.Repeat("é", 70) + `"`,
		`"resolved"`, `"sp\u0065cialist_required"`, `"failure_analysis"`, "[]", "[1]", `["a","\u0061"]`, "{}", `{"a":1}`, `{"a":"b"}`, `{"id":"insufficient_evidence"}`,
	}).Draw(t, "instead")
	start, end := n.start, n.end
	if n.kind == '"' {
		start, end = start-1, end+1
	}
	return append(append(append([]byte{}, raw[:start]...), other...), raw[end:]...)
}

func TestF160_FastWayIsTheSlowWay(t *testing.T) {
	sameAsSlow(t, genRequest)
	sameAsSlow(t, genResponse)
	sameAsSlow(t, genSufficiency)
	sameAsSlow(t, func(t *rapid.T) ContextPolicyDigest {
		d, err := NewDigest(genComponents(t), testKey)
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
	sameAsSlow(t, genAssessment)
	sameAsSlow(t, genResult)
	sameAsSlow(t, genDefinition)
	sameAsSlow(t, genPolicy)
	sameAsSlow(t, genMicro)
	sameAsSlow(t, genTaxonomy)
	sameAsSlow(t, genItem)
	sameAsSlow(t, genReceipt)
}

// Types outside the wire come out as encoding/json has them.
func TestCanonicalOfAnyType(t *testing.T) {
	type loop struct {
		Next *loop
		N    int
	}
	type embeds struct {
		EvidenceCite
		B []byte
	}
	type tags struct {
		Skip int `json:"-"`
		//lint:ignore SA5008 this odd tag is what is tested
		Dash   int `json:"-,"`
		Quoted int `json:",string"`
		Zero   int `json:",omitzero"`
		Named  int `json:"\u00e9"`
		hidden int
	}
	number := reflect.TypeFor[int]()
	twins := reflect.Zero(reflect.StructOf([]reflect.StructField{ // two fields of one name: encoding/json drops both
		{Name: "A", Type: number, Tag: `json:"x"`}, {Name: "B", Type: number, Tag: `json:"x"`}, {Name: "C", Type: number},
	})).Interface()
	type plain struct {
		Z    []string
		Raw  json.RawMessage
		Map  map[string]float64 `json:"map,omitempty"`
		P    *[]string
		D    time.Duration
		Big  int64
		List [][]string
		Cite []EvidenceCite
		T    time.Time
	}
	deep := json.RawMessage(` { "b" : 1.50 , "a" : [ ] } `)
	for name, v := range map[string]any{
		"nil": nil, "loop": loop{Next: &loop{N: 1}}, "embedded": embeds{B: []byte("x")}, "tags": tags{Dash: 1, hidden: 1}, "twins": twins,
		"zero": plain{}, "set": plain{Z: []string{"\xff<\u2028\x00"}, Raw: deep, Map: map[string]float64{"a": math.Copysign(0, -1), "b": 1e21}, P: &[]string{},
			Big: math.MaxInt64, List: [][]string{nil, {}}, Cite: []EvidenceCite{{Ref: "a"}}},
		"keys": map[int]string{1: "a"}, "any": map[string]any{"b": []any{1, "x", nil}, "a": 2.5}, "text": "é\n", "number": json.Number("1.0"),
		"floats": []float32{0.1}, "array": [2]int{1, 2}, "pointer": &deep,
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		want, err := jcs.Transform(append(append([]byte("["), raw...), ']'))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Canonical([]any{v}); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s inside: %v\n got %s\nwant %s", name, err, got, want)
		}
		if got, err := Canonical(v); err != nil || string(got) != string(want[1:len(want)-1]) {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, want)
		}
	}
	for name, v := range map[string]any{
		"NaN": math.NaN(), "infinite": ConfidenceInputs{"a": math.Inf(1)}, "broken": json.RawMessage("{"), "empty": struct{ R json.RawMessage }{json.RawMessage{}},
		"twice": json.RawMessage(`{"a":1,"\u0061":2}`), "deep": struct{ R json.RawMessage }{json.RawMessage(strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth))},
	} {
		if got, err := Canonical(v); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Numbers whose exact value takes long to compute are refused, not computed:
// the schema library reads each one as a fraction of whole numbers.
func TestF060_CostlyNumbersAreRefused(t *testing.T) {
	r, err := Encode(GatewayResponse{Status: StatusFailed, TraceID: "t"})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"1e-99999", "1e-999999", "1e-9999999", "0e99999999", "0." + strings.Repeat("1", maxNumber), strings.Repeat("1", maxNumber+1)} {
		wantFault[GatewayResponse](t, strings.Replace(string(r), `"latency_ms":0`, `"latency_ms":`+n, 1), FaultValue, "/metrics/latency_ms")
	}
}
