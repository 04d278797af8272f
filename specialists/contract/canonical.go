package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"unicode/utf16"
)

// Canonical writes v in the canonical form of RFC 8785: keys sorted, numbers
// as ECMAScript writes them, no insignificant space. Numbers are written by
// gowebpki/jcs and property tests hold the whole to it; writing Go values
// without the detour over encoding/json and a second parse costs a tenth, and
// every answer passes here often.
func Canonical(v any) ([]byte, error) {
	if l := layoutOf(reflect.TypeOf(v)); l != nil {
		return l.encode(reflect.ValueOf(v), false)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	out, err := appendRaw(make([]byte, 0, len(raw)), raw, 0)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return out, nil
}

// appendRaw appends a JSON document that stands depth levels deep.
func appendRaw(b, raw []byte, depth int) ([]byte, error) {
	t := tapes.Get().(*tape)
	defer t.free()
	t.shape, t.in, t.at, t.nodes, t.steps = "document", raw, 0, t.nodes[:0], t.steps[:0]
	if err := t.document(depth); err != nil {
		return nil, err
	}
	return t.canonical(b, 0)
}

// buffers hold documents that are written only to be copied, hashed or checked.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func giveBack(buf *[]byte, b []byte) {
	if b != nil && cap(b) <= 1<<16 { // a huge one is not kept
		*buf = b
	}
	buffers.Put(buf)
}

// encode writes v canonically. With full set it is written as Filled leaves
// it: no slice, map or raw document is null, behind a pointer excepted.
func (l *layout) encode(v reflect.Value, full bool) ([]byte, error) {
	buf := buffers.Get().(*[]byte)
	b, err := l.append((*buf)[:0], v, full, 0)
	defer giveBack(buf, b)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return bytes.Clone(b), nil
}

// Sum is the SHA-256 of b as "sha256:<hex>".
func Sum(b []byte) string {
	s := sha256.Sum256(b)
	out := make([]byte, 0, len("sha256:")+2*len(s))
	return string(hex.AppendEncode(append(out, "sha256:"...), s[:]))
}

// SumOf is the Sum of v's canonical form.
func SumOf(v any) (string, error) {
	if l := layoutOf(reflect.TypeOf(v)); l != nil {
		buf := buffers.Get().(*[]byte)
		b, err := l.append((*buf)[:0], reflect.ValueOf(v), false, 0)
		defer giveBack(buf, b)
		if err != nil {
			return "", fmt.Errorf("canonical form: %w", err)
		}
		return Sum(b), nil
	}
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

func units(s string) []uint16 { return utf16.Encode([]rune(s)) }
