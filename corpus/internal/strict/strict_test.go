package strict

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type inner struct {
	N int `json:"n" yaml:"n"`
}

type doc struct {
	Name string         `json:"name" yaml:"name"`
	List []inner        `json:"list" yaml:"list"`
	Map  map[string]int `json:"map,omitempty" yaml:"map,omitempty"`
	In   inner          `json:"in" yaml:"in"`
}

// What the decoder writes it reads; the same with any key repeated, renamed or
// written in other case is refused.
func TestObjectKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := doc{Name: rapid.String().Draw(t, "name"), List: []inner{{1}, {2}}, Map: map[string]int{rapid.String().Draw(t, "key"): 1}}
		raw, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var got doc
		err = Object("f", 1, raw, &got)
		if strings.ContainsRune(d.Name, 0) || strings.Contains(string(raw), `\u0000`) {
			if err == nil {
				t.Fatalf("NUL passed: %s", raw)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		key := rapid.SampledFrom([]string{`"name":`, `"in":`, `"n":`, `"list":`}).Draw(t, "field")
		at := strings.LastIndex(string(raw), key)
		for what, with := range map[string]string{
			"repeated": key + map[string]string{`"name":`: `"x"`, `"in":`: `{"n":1}`, `"n":`: `1`, `"list":`: `[]`}[key] + "," + key,
			"renamed":  `"zzzzzz":`,
			"in caps":  strings.ToUpper(key),
		} {
			bad := string(raw[:at]) + with + string(raw[at+len(key):])
			if err := Object("f", 1, []byte(bad), &got); !errors.Is(err, ErrInvalid) {
				t.Fatalf("%s passed: %s: %v", what, bad, err)
			}
		}
	})
}

// Object never panics and never accepts what encoding/json refuses.
func FuzzObject(f *testing.F) {
	for _, s := range []string{`{"name":"a\"b","list":[{"n":1}],"in":{"n":2}}`, `{"map":{"a":1,"a":2}}`, `{"na\u006de":"x","name":"y"}`, `{"in":null}`, `[`, `{"list":[1,]}`, `{} {}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var d doc
		if err := Object("f", 1, raw, &d); err == nil && !json.Valid(raw) {
			t.Fatalf("accepted %q", raw)
		}
	})
}

// YAML never panics; what it accepts has no unknown key.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{"name: a\nlist:\n  - n: 1\n", "name: a\nname: b\n", "nmae: x\n", "---\nname: a\n---\nname: b\n", "[", "\ufeffname: a", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var d doc
		if err := YAML("f", data, &d); err != nil && strings.Contains(err.Error(), "\n") && !strings.Contains(string(data), "\n") {
			t.Fatalf("message of several lines: %q", err)
		}
	})
}
