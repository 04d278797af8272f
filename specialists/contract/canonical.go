package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// Canonical writes v in the canonical form of RFC 8785: keys sorted, numbers
// as ECMAScript writes them, no insignificant space.
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	out, err := jcs.Transform(raw)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return out, nil
}

// Sum is the SHA-256 of b as "sha256:<hex>".
func Sum(b []byte) string {
	s := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(s[:])
}

// SumOf is the Sum of v's canonical form.
func SumOf(v any) (string, error) {
	b, err := Canonical(v)
	if err != nil {
		return "", err
	}
	return Sum(b), nil
}

// Filled returns v with every nil slice and map replaced by an empty one and
// every nil raw document by {}, so that no array or object is null on the
// wire. v itself is left alone.
func Filled[T any](v T) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	out.Set(reflect.ValueOf(v))
	fill(out)
	return out.Interface().(T)
}

var rawType = reflect.TypeFor[json.RawMessage]()

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(f)
			}
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	case reflect.Slice:
		switch {
		case v.Type() == rawType:
			if v.Len() == 0 {
				v.SetBytes([]byte("{}"))
			}
		case v.IsNil():
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		case v.Type().Elem().Kind() == reflect.Struct:
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			for i := range own.Len() {
				fill(own.Index(i))
			}
			v.Set(own)
		}
	}
}

// appendString writes s as RFC 8785 does; invalid UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= 0x20:
			b = utf8.AppendRune(b, r)
		case strings.ContainsRune("\b\t\n\f\r", r):
			b = append(b, '\\', "btn?fr"[r-'\b'])
		default:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		}
	}
	return append(b, '"')
}

// byUTF16 orders keys as RFC 8785 does, by UTF-16 code units.
func byUTF16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}
