package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// Canonical writes v in the canonical form of RFC 8785: keys sorted, numbers
// as ECMAScript writes them, no insignificant space. Numbers are written by
// gowebpki/jcs and a property test holds the whole to it; walking our own tree
// costs a third of its second parse, and every answer passes here often.
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	tree, err := parse("document", raw)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	out, err := appendCanonical(make([]byte, 0, len(raw)), tree)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return out, nil
}

func appendCanonical(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return appendString(b, v), nil
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return nil, err
		}
		s, err := jcs.NumberToJSON(f)
		return append(b, s...), err
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendCanonical(b, e); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, byUTF16)
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, k), ':')
			var err error
			if b, err = appendCanonical(b, v[k]); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	default:
		return nil, fmt.Errorf("no JSON value: %T", v)
	}
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

// byUTF16 orders keys as RFC 8785 does, by UTF-16 code units. That differs
// from the order of bytes only where a surrogate pair meets U+E000 and above.
func byUTF16(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			if a[i] < 0xee || b[i] < 0xee {
				return int(a[i]) - int(b[i])
			}
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		}
	}
	return len(a) - len(b)
}
