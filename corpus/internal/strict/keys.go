package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// keyCheck walks the bytes of one valid JSON value beside a Go type and finds
// what encoding/json lets pass: unknown, repeated or differently written keys
// and nulls.
type keyCheck struct {
	raw  []byte
	pos  int
	path []string // keys from the top to here
}

// value checks the value at pos; a nil t means that anything may stand there.
func (k *keyCheck) value(t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	c := k.next()
	if len(k.path) == 0 && c != '{' {
		return errors.New("not a JSON object; each line must be one object")
	}
	switch c {
	case '{':
		return k.object(t)
	case '[':
		return k.array(t)
	case '"':
		k.str()
	case 'n':
		return fmt.Errorf("%q is null; leave it out or give it a value", k.at())
	default: // number, true, false
		for k.pos < len(k.raw) && strings.IndexByte(",]} \t\r\n", k.raw[k.pos]) < 0 {
			k.pos++
		}
	}
	return nil
}

func (k *keyCheck) array(t reflect.Type) error {
	var elem reflect.Type
	if t != nil && t.Kind() == reflect.Slice {
		elem = t.Elem()
	}
	k.pos++
	for k.next() != ']' {
		if err := k.value(elem); err != nil {
			return err
		}
		if k.next() == ',' {
			k.pos++
		}
	}
	k.pos++
	return nil
}

func (k *keyCheck) object(t reflect.Type) error {
	fields, known := keys(t, "json")
	seen := make([]string, 0, 16)
	k.pos++
	for k.next() != '}' {
		var key string
		quoted := k.str()
		if bytes.IndexByte(quoted, '\\') < 0 {
			key = string(quoted[1 : len(quoted)-1])
		} else if err := json.Unmarshal(quoted, &key); err != nil {
			return err
		}
		k.path = append(k.path, key)
		for _, s := range seen {
			if s == key {
				return fmt.Errorf("key %q is given twice; keep one", k.at())
			}
		}
		seen = append(seen, key)
		ft, ok := fields[key]
		if known && !ok {
			return fmt.Errorf("unknown key %q%s", k.at(), hint(key, fields))
		}
		if t != nil && t.Kind() == reflect.Map {
			ft = t.Elem()
		}
		k.next()
		k.pos++ // the colon
		if err := k.value(ft); err != nil {
			return err
		}
		k.path = k.path[:len(k.path)-1]
		if k.next() == ',' {
			k.pos++
		}
	}
	k.pos++
	return nil
}

// next skips white space and gives the byte at pos.
func (k *keyCheck) next() byte {
	for k.pos < len(k.raw) && strings.IndexByte(" \t\r\n", k.raw[k.pos]) >= 0 {
		k.pos++
	}
	if k.pos == len(k.raw) {
		return 0
	}
	return k.raw[k.pos]
}

// str skips the string at pos and gives it with its quotes.
func (k *keyCheck) str() []byte {
	start := k.pos
	for k.pos++; k.pos < len(k.raw) && k.raw[k.pos] != '"'; k.pos++ {
		if k.raw[k.pos] == '\\' {
			k.pos++
		}
	}
	k.pos++
	return k.raw[start:k.pos]
}

func (k *keyCheck) at() string { return strings.Join(k.path, ".") }

// keyCache keeps what keys found, by type and tag.
var keyCache sync.Map

type keyID struct {
	t   reflect.Type
	tag string
}

// keys maps the tag names of struct type t to their field types; known is
// false when t is no struct, so that any key may stand there.
func keys(t reflect.Type, tag string) (fields map[string]reflect.Type, known bool) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, false
	}
	id := keyID{t, tag}
	if v, ok := keyCache.Load(id); ok {
		return v.(map[string]reflect.Type), true
	}
	fields = map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
		if name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields[name] = f.Type
	}
	keyCache.Store(id, fields)
	return fields, true
}
