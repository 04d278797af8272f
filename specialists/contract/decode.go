package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds how deeply a document may nest; the deepest shape needs 8.
const maxDepth = 32

// Decode reads one document of shape T and refuses everything its schema does
// not allow: unknown keys and enum members, duplicate keys at any depth, wrong
// types, text after the document, invalid UTF-8, lone surrogates, nesting
// beyond 32 levels and documents above the shape's size. The error is always
// a *DecodeError, except for a T without a schema.
func Decode[T any](raw []byte) (T, error) {
	var v, zero T
	w, ok := wire[reflect.TypeFor[T]()]
	if !ok {
		return zero, fmt.Errorf("decode %T: the type has no schema", zero)
	}
	if err := check(w.name, w.max, raw); err != nil {
		return zero, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		return zero, fromUnmarshal(w.name, err)
	}
	return v, nil
}

// Check is Decode without the value: nil means that raw is a valid T.
func Check[T any](raw []byte) error {
	_, err := Decode[T](raw)
	return err
}

func check(name string, most int, raw []byte) error {
	if len(raw) > most {
		return &DecodeError{Shape: name, Kind: FaultSize, Detail: fmt.Sprintf("%d bytes, at most %d are read", len(raw), most)}
	}
	if !utf8.Valid(raw) {
		return &DecodeError{Shape: name, Kind: FaultUTF8, Detail: "not UTF-8"}
	}
	if i := loneSurrogate(raw); i >= 0 {
		return &DecodeError{Shape: name, Kind: FaultUTF8, Detail: fmt.Sprintf("lone surrogate escape at byte %d", i)}
	}
	p := parser{shape: name, dec: json.NewDecoder(bytes.NewReader(raw))}
	p.dec.UseNumber()
	tree, err := p.value(0)
	if err != nil {
		return err
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return &DecodeError{Shape: name, Kind: FaultTrailing, Detail: fmt.Sprintf("text after the document at byte %d", p.dec.InputOffset())}
	}
	return validateTree(name, tree)
}

// parser builds the tree that the schema is checked on; unlike json.Unmarshal
// it knows where it is, and refuses duplicate keys.
type parser struct {
	shape string
	dec   *json.Decoder
	path  []string
}

func (p *parser) fault(k FaultKind, format string, args ...any) error {
	return &DecodeError{Shape: p.shape, Kind: k, Pointer: pointer(p.path), Detail: clip(fmt.Sprintf(format, args...))}
}

func (p *parser) token() (json.Token, error) {
	t, err := p.dec.Token()
	if err != nil {
		return nil, p.fault(FaultSyntax, "byte %d: %v", p.dec.InputOffset(), err)
	}
	return t, nil
}

func (p *parser) value(depth int) (any, error) {
	t, err := p.token()
	if err != nil {
		return nil, err
	}
	d, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth >= maxDepth {
		return nil, p.fault(FaultDepth, "nested deeper than %d levels", maxDepth)
	}
	if d == '[' {
		return p.array(depth)
	}
	return p.object(depth)
}

func (p *parser) array(depth int) (any, error) {
	out := []any{}
	for p.dec.More() {
		p.path = append(p.path, strconv.Itoa(len(out)))
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		out = append(out, v)
	}
	_, err := p.token()
	return out, err
}

func (p *parser) object(depth int) (any, error) {
	out := map[string]any{}
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // encoding/json yields only strings here
		p.path = append(p.path, key)
		if _, ok := out[key]; ok {
			return nil, p.fault(FaultDuplicateKey, "key stands twice")
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		out[key] = v
	}
	_, err := p.token()
	return out, err
}

func fromUnmarshal(shape string, err error) error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		at := ""
		if t.Field != "" {
			at = "/" + string(bytes.ReplaceAll([]byte(t.Field), []byte("."), []byte("/")))
		}
		return &DecodeError{Shape: shape, Kind: FaultType, Pointer: at, Detail: clip(t.Error())}
	}
	return &DecodeError{Shape: shape, Kind: FaultValue, Detail: clip(err.Error())}
}

// loneSurrogate returns the offset of a \u escape that is half a pair, or -1.
// encoding/json would silently replace it.
func loneSurrogate(raw []byte) int {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 >= len(raw) {
			continue
		}
		if raw[i+1] != 'u' {
			i++
			continue
		}
		r, ok := escape(raw, i)
		switch {
		case !ok:
			i++ // a syntax error; the parser names it
		case r >= 0xdc00 && r <= 0xdfff:
			return i
		case r >= 0xd800 && r <= 0xdbff:
			low, ok := escape(raw, i+6)
			if !ok || low < 0xdc00 || low > 0xdfff {
				return i
			}
			i += 11
		default:
			i += 5
		}
	}
	return -1
}

// escape reads the \uXXXX at offset i.
func escape(raw []byte, i int) (uint64, bool) {
	if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
		return 0, false
	}
	r, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 32)
	return r, err == nil
}
