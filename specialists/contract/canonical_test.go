package contract

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

func TestCanonicalIsRFC8785(t *testing.T) {
	got, err := Canonical(json.RawMessage(`{"b":1.0,"a":[1e2,"\u20ac<"],"\ud83d\ude00":null,"\ufb33":true}`))
	want := "{\"a\":[100,\"€<\"],\"b\":1,\"😀\":null,\"\ufb33\":true}"
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

func TestCanonicalAgreesWithJCS(t *testing.T) {
	numbers := []string{"0", "-0", "1.0", "1e21", "1e-7", "123456789012345680000", "5e-324", "0.1", "-1.5E+2", "9007199254740993"}
	var gen func(depth int) *rapid.Generator[any]
	gen = func(depth int) *rapid.Generator[any] {
		leaf := []*rapid.Generator[any]{
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Float64().AsAny(),
			rapid.Map(rapid.SampledFrom(numbers), func(s string) any { return json.Number(s) }),
		}
		if depth > 0 {
			leaf = append(leaf, rapid.SliceOfN(gen(depth-1), 0, 4).AsAny(), rapid.MapOfN(rapid.String(), gen(depth-1), 0, 6).AsAny())
		}
		return rapid.OneOf(leaf...)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := gen(3).Draw(t, "v")
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		want, err := jcs.Transform(raw)
		if err != nil {
			t.Skip(err)
		}
		got, err := Canonical(v)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%v\n got %s\nwant %s", err, got, want)
		}
	})
}

func TestF084_ReceiptHashIsOfCanonicalForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genReceipt(t)
		raw, err := json.Marshal(map[string]any{"body": r.Body, "kind": r.Kind, "prev": r.Prev, "seq": r.Seq, "trace_id": r.TraceID})
		if err != nil {
			t.Fatal(err)
		}
		want, err := jcs.Transform(raw)
		if err != nil {
			t.Fatal(err)
		}
		if r.sum() != Sum(want) {
			t.Fatalf("hash is not that of %s", want)
		}
	})
}

func TestF084_ChainBreaks(t *testing.T) {
	make3 := func() []Receipt {
		c := NewChain("t")
		for _, k := range []string{"request", "sufficiency", "response"} {
			c.Append(k, map[string]string{"k": k})
		}
		return c.Receipts()
	}
	if err := VerifyChain(make3()); err != nil {
		t.Fatal(err)
	}
	for name, breakIt := range map[string]func([]Receipt) []Receipt{
		"empty":     func([]Receipt) []Receipt { return nil },
		"changed":   func(r []Receipt) []Receipt { r[1].Body["k"] = "x"; return r },
		"hash":      func(r []Receipt) []Receipt { r[2].Hash = r[1].Hash; return r },
		"dropped":   func(r []Receipt) []Receipt { return append(r[:1:1], r[2]) },
		"no head":   func(r []Receipt) []Receipt { return r[1:] },
		"reordered": func(r []Receipt) []Receipt { r[1], r[2] = r[2], r[1]; return r },
		"trace":     func(r []Receipt) []Receipt { r[2].TraceID = "u"; return r },
	} {
		if err := VerifyChain(breakIt(make3())); !errors.Is(err, ErrChain) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
