package contract

import (
	"bytes"
	"reflect"
	"strconv"
)

// read puts the value at a node into v, as encoding/json would. It returns
// false for whatever is not plainly of v's type, which encoding/json then
// judges; v may be half filled. The tape passed its schema, so no key is
// unknown.
func (l *layout) read(t *tape, i int, v reflect.Value) bool {
	n := t.nodes[i]
	switch l.kind {
	case reflect.Invalid:
		v.SetBytes(bytes.Clone(t.raw(n)))
		return true
	case reflect.String:
		if n.kind == '"' {
			v.SetString(t.text(n))
			return true
		}
	case reflect.Bool:
		if n.kind == 't' || n.kind == 'f' {
			v.SetBool(n.kind == 't')
			return true
		}
	case reflect.Int, reflect.Int64:
		if n.kind == '0' && n.plain {
			x, err := strconv.ParseInt(string(t.raw(n)), 10, 64)
			v.SetInt(x)
			return err == nil
		}
	case reflect.Float64:
		if n.kind == '0' {
			x, err := strconv.ParseFloat(string(t.raw(n)), 64)
			v.SetFloat(x)
			return err == nil
		}
	case reflect.Pointer:
		if n.kind == 'n' {
			return true
		}
		v.Set(reflect.New(l.typ.Elem()))
		return l.elem.read(t, i, v.Elem())
	case reflect.Map:
		return n.kind == '{' && l.readMap(t, i, v)
	case reflect.Slice:
		return n.kind == '[' && l.readSlice(t, i, v)
	case reflect.Struct:
		return n.kind == '{' && l.readStruct(t, i, v)
	}
	return false
}

// raw returns the bytes of a value that is no string, or a string with its
// quotes.
func (t *tape) raw(n node) []byte {
	if n.kind == '"' {
		return t.in[n.start-1 : n.end+1]
	}
	return t.in[n.start:n.end]
}

func (l *layout) readStruct(t *tape, i int, v reflect.Value) bool {
	at := 0 // keys mostly stand in order
	for k := i + 1; k < int(t.nodes[i].next); k = int(t.nodes[k+1].next) {
		name, found := t.bytes(t.nodes[k]), false
		for range l.fields {
			if found = l.fields[at].name == string(name); found {
				break
			}
			if at++; at == len(l.fields) {
				at = 0
			}
		}
		if !found || !l.fields[at].of.read(t, k+1, v.Field(l.fields[at].index)) {
			return false
		}
	}
	return true
}

func (l *layout) readSlice(t *tape, i int, v reflect.Value) bool {
	n := t.nodes[i]
	v.Set(reflect.MakeSlice(l.typ, int(n.n), int(n.n)))
	for k, j := i+1, 0; k < int(n.next); k, j = int(t.nodes[k].next), j+1 {
		if !l.elem.read(t, k, v.Index(j)) {
			return false
		}
	}
	return true
}

func (l *layout) readMap(t *tape, i int, v reflect.Value) bool {
	n := t.nodes[i]
	texts, figures := map[string]string(nil), map[string]float64(nil)
	if l.texts() {
		texts = make(map[string]string, n.n)
	} else {
		figures = make(map[string]float64, n.n)
	}
	for k := i + 1; k < int(n.next); k = int(t.nodes[k+1].next) {
		key, val := t.text(t.nodes[k]), t.nodes[k+1]
		switch {
		case texts != nil && val.kind == '"':
			texts[key] = t.text(val)
		case figures != nil && val.kind == '0':
			x, err := strconv.ParseFloat(string(t.raw(val)), 64)
			if err != nil {
				return false
			}
			figures[key] = x
		default:
			return false
		}
	}
	if texts != nil {
		v.Set(reflect.ValueOf(texts).Convert(l.typ))
	} else {
		v.Set(reflect.ValueOf(figures).Convert(l.typ))
	}
	return true
}
