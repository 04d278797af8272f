package contract

import (
	"encoding"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// layout is how a Go type stands on the wire, worked out once: a type made of
// structs, pointers, slices, strings, booleans, numbers, raw documents and
// maps of strings or numbers. A type with anything else has none and goes
// through encoding/json. What a layout writes and reads is held to
// encoding/json by property tests.
type layout struct {
	typ    reflect.Type
	kind   reflect.Kind // reflect.Invalid is a raw document
	elem   *layout      // of a pointer or slice
	fields []member     // of a struct, in canonical order
}

type member struct {
	name  string
	label []byte // "name": as it is written
	index int
	omit  bool // if empty
	of    *layout
}

var layouts sync.Map // reflect.Type → *layout, nil if it has none

func layoutOf(t reflect.Type) *layout {
	if t == nil {
		return nil
	}
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	l := newLayout(t, 0)
	layouts.Store(t, l)
	return l
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	numberType    = reflect.TypeFor[json.Number]()
	textMap       = reflect.TypeFor[map[string]string]()
	figureMap     = reflect.TypeFor[map[string]float64]()
)

func newLayout(t reflect.Type, depth int) *layout {
	if t == rawType {
		return &layout{typ: t}
	}
	p := reflect.PointerTo(t)
	if p.Implements(marshaler) || p.Implements(textMarshaler) || t == numberType || depth > maxDepth {
		return nil
	}
	l := &layout{typ: t, kind: t.Kind()}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return l
	case reflect.Map:
		if t.ConvertibleTo(textMap) || t.ConvertibleTo(figureMap) {
			return l
		}
	case reflect.Pointer, reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 { // bytes would be base64
			return nil
		}
		if l.elem = newLayout(t.Elem(), depth+1); l.elem != nil {
			return l
		}
	case reflect.Struct:
		for i := range t.NumField() {
			m, ok := newMember(t.Field(i), i, depth)
			if !ok {
				return nil
			}
			if m.of != nil {
				l.fields = append(l.fields, m)
			}
		}
		slices.SortFunc(l.fields, func(a, b member) int { return byUTF16(a.name, b.name) })
		for i := range l.fields[min(1, len(l.fields)):] {
			if l.fields[i].name == l.fields[i+1].name {
				return nil
			}
		}
		return l
	}
	return nil
}

// newMember reads a field; one that never stands on the wire has no layout.
func newMember(f reflect.StructField, i, depth int) (member, bool) {
	tag := f.Tag.Get("json")
	name, opts, _ := strings.Cut(tag, ",")
	switch {
	case f.Anonymous || opts != "" && opts != "omitempty":
		return member{}, false
	case !f.IsExported() || tag == "-":
		return member{}, true
	case name == "":
		name = f.Name
	}
	if !plainName.MatchString(name) {
		return member{}, false
	}
	of := newLayout(f.Type, depth+1)
	return member{
		name: name, label: append(appendString(nil, name), ':'), index: i, omit: opts != "", of: of,
	}, of != nil
}

// plainName is what encoding/json takes for a name without a second thought.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

var errNotFinite = errors.New("no JSON number: not finite")

// append writes v canonically, which stands depth levels deep; full is
// encode's.
func (l *layout) append(b []byte, v reflect.Value, full bool, depth int) ([]byte, error) {
	switch l.kind {
	case reflect.Invalid:
		switch raw := v.Bytes(); {
		case full && len(raw) == 0:
			return append(b, "{}"...), nil
		case raw == nil:
			return append(b, "null"...), nil
		default:
			return appendRaw(b, raw, depth)
		}
	case reflect.String:
		return appendString(b, v.String()), nil
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	case reflect.Int, reflect.Int64:
		if i := v.Int(); i > -1<<53 && i < 1<<53 {
			return strconv.AppendInt(b, i, 10), nil
		}
		return appendFloat(b, float64(v.Int()))
	case reflect.Float64:
		f := v.Float()
		if f-f != 0 {
			return nil, errNotFinite
		}
		return appendFloat(b, f)
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return l.elem.append(b, v.Elem(), false, depth)
	case reflect.Map:
		return l.appendMap(b, v, full)
	case reflect.Slice:
		if v.IsNil() && !full {
			return append(b, "null"...), nil
		}
		b = append(b, '[')
		full = full && l.elem.kind == reflect.Struct // as Filled goes
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = l.elem.append(b, v.Index(i), full, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	default:
		return l.appendStruct(b, v, full, depth)
	}
}

func (l *layout) appendStruct(b []byte, v reflect.Value, full bool, depth int) ([]byte, error) {
	b = append(b, '{')
	first := true
	for i := range l.fields {
		m := &l.fields[i]
		f := v.Field(m.index)
		if m.omit && m.of.empty(f) && !(full && m.of.kind == reflect.Invalid) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		var err error
		if b, err = m.of.append(append(b, m.label...), f, full, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// texts tells a map of strings from one of numbers.
func (l *layout) texts() bool { return l.typ.Elem().Kind() == reflect.String }

// empty is what omitempty leaves out.
func (l *layout) empty(v reflect.Value) bool {
	switch l.kind {
	case reflect.Struct:
		return false
	case reflect.Invalid, reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

func (l *layout) appendMap(b []byte, v reflect.Value, full bool) ([]byte, error) {
	if v.IsNil() && !full {
		return append(b, "null"...), nil
	}
	if l.texts() {
		return appendTexts(b, v.Convert(textMap).Interface().(map[string]string)), nil
	}
	m := v.Convert(figureMap).Interface().(map[string]float64)
	b = append(b, '{')
	for i, k := range keysOf(m) {
		if i > 0 {
			b = append(b, ',')
		}
		f := m[k]
		if f-f != 0 {
			return nil, errNotFinite
		}
		var err error
		if b, err = appendFloat(append(appendString(b, k), ':'), f); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendTexts(b []byte, m map[string]string) []byte {
	b = append(b, '{')
	for i, k := range keysOf(m) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(appendString(b, k), ':'), m[k])
	}
	return append(b, '}')
}

func keysOf[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.SortFunc(keys, byUTF16[string])
	return keys
}
