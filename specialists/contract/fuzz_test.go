package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/gowebpki/jcs"
)

// FuzzParse holds the strict parser to encoding/json and the canonical form of
// what it reads to gowebpki/jcs.
func FuzzParse(f *testing.F) {
	for _, s := range []string{okAssessment, `{"a":[1,-0.5e+3,"\ud83d\ude00\n",true,null]}`, `[01]`, `"\u12"`, `{"a":1,}`, "\"\x01\"", `1 2`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) || !json.Valid(bytes.ToValidUTF8(raw, nil)) {
			if _, err := parse("x", raw); err == nil {
				t.Fatalf("accepted %q", raw)
			}
			return
		}
		tree, err := parse("x", raw)
		if err != nil {
			var d *DecodeError
			if !errors.As(err, &d) || d.Kind == FaultSyntax || d.Kind == FaultTrailing {
				t.Fatalf("refused %q: %v", raw, err)
			}
			return
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(raw, bytes.ToValidUTF8(raw, nil)) {
			return
		}
		if !cmp.Equal(want, tree) {
			t.Fatal(cmp.Diff(want, tree))
		}
		got, err := appendRaw(nil, raw, 0)
		if err != nil {
			t.Fatal(err)
		}
		if canon, err := jcs.Transform(raw); err == nil && !bytes.Equal(canon, got) {
			t.Fatalf("got %s want %s", got, canon)
		}
	})
}

func fuzzDecode[T any](f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("testdata", "golden", SchemaName[T]()+".json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if utf8.Valid(raw) {
			neverLaxer[T](t, raw)
		}
		v, err := Decode[T](raw)
		if err != nil {
			var d *DecodeError
			if !errors.As(err, &d) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		again, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode[T](again); err != nil {
			t.Fatalf("does not survive a round trip: %v\n%s", err, again)
		}
	})
}

func FuzzDecodeRequest(f *testing.F)     { fuzzDecode[GatewayRequest](f) }
func FuzzDecodeResponse(f *testing.F)    { fuzzDecode[GatewayResponse](f) }
func FuzzDecodeAssessment(f *testing.F)  { fuzzDecode[FailureAssessment](f) }
func FuzzDecodeResult(f *testing.F)      { fuzzDecode[CoreAgentResult](f) }
func FuzzDecodeSufficiency(f *testing.F) { fuzzDecode[DeterministicSufficiency](f) }
func FuzzDecodeDigest(f *testing.F)      { fuzzDecode[ContextPolicyDigest](f) }
