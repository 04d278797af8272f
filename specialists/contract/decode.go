package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

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
	t, err := check(w.name, w.max, raw)
	if err != nil {
		return zero, err
	}
	defer t.free()
	if l := layoutOf(reflect.TypeFor[T]()); l != nil && l.read(t, 0, reflect.ValueOf(&v).Elem()) {
		return v, nil
	}
	v = zero
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		return zero, fromUnmarshal(w.name, err)
	}
	return v, nil
}

// Check holds raw to T's schema like Decode but makes no value; it differs in
// one thing: a whole number may be written with a fraction of zero.
func Check[T any](raw []byte) error {
	w, ok := wire[reflect.TypeFor[T]()]
	if !ok {
		var zero T
		return fmt.Errorf("check %T: the type has no schema", zero)
	}
	t, err := check(w.name, w.max, raw)
	if err != nil {
		return err
	}
	t.free()
	return nil
}

// Valid holds a value to its schema as it would go over the wire.
func Valid[T any](v T) error {
	if l := layoutOf(reflect.TypeFor[T]()); l != nil {
		buf := buffers.Get().(*[]byte)
		raw, err := l.append((*buf)[:0], reflect.ValueOf(&v).Elem(), true, 0)
		defer giveBack(buf, raw)
		if err == nil {
			return Check[T](raw)
		}
	}
	raw, err := json.Marshal(Filled(v)) // for what it says about the fault
	if err != nil {
		return &DecodeError{Shape: reflect.TypeFor[T]().Name(), Kind: FaultValue, Detail: clip(err.Error())}
	}
	return Check[T](raw)
}

// check reads a document and holds it to its schema. The tape must be freed.
func check(name string, most int, raw []byte) (*tape, error) {
	if len(raw) > most {
		return nil, &DecodeError{Shape: name, Kind: FaultSize, Detail: fmt.Sprintf("%d bytes, at most %d are read", len(raw), most)}
	}
	if !utf8.Valid(raw) {
		return nil, &DecodeError{Shape: name, Kind: FaultUTF8, Detail: "not UTF-8"}
	}
	t, err := scan(name, raw)
	if err != nil {
		return nil, err
	}
	if err := t.validate(name); err != nil {
		t.free()
		return nil, err
	}
	return t, nil
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
