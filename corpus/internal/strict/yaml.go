package strict

import (
	"bytes"
	"errors"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
)

var unknownField = regexp.MustCompile(`unknown field "([^"]*)"`)

// YAML decodes one YAML document into v, a pointer to a struct. Unknown and
// repeated keys are errors that name the place and the nearest known key.
func YAML(file string, data []byte, v any) error {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return Errorf(file, 1, "byte order mark; save the file as UTF-8 without one")
	case bytes.IndexByte(data, 0) >= 0:
		return Errorf(file, 1+bytes.Count(data[:bytes.IndexByte(data, 0)], []byte("\n")), "NUL byte; remove it")
	case !utf8.Valid(data):
		return Errorf(file, 0, "bytes that are not UTF-8; save the file as UTF-8")
	case len(bytes.TrimSpace(data)) == 0:
		return Errorf(file, 0, "empty file; write its keys")
	}
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := dec.Decode(v); err != nil {
		return yamlError(file, err, v)
	}
	var more any
	if err := dec.Decode(&more); err == nil {
		return Errorf(file, 0, "more than one YAML document; keep one")
	}
	return nil
}

func yamlError(file string, err error, v any) error {
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return Errorf(file, 0, "not readable as YAML: %v", err)
	}
	out := &Error{File: file, Msg: ye.GetMessage()}
	if tok := ye.GetToken(); tok != nil && tok.Position != nil {
		out.Line, out.Col = tok.Position.Line, tok.Position.Column
	}
	if m := unknownField.FindStringSubmatch(out.Msg); m != nil {
		out.Msg = `unknown key "` + m[1] + `"` + hint(m[1], allKeys(reflect.TypeOf(v), nil))
	}
	return out
}

// allKeys collects the yaml keys of t and of the structs inside it.
func allKeys(t reflect.Type, into map[string]reflect.Type) map[string]reflect.Type {
	if into == nil {
		into = map[string]reflect.Type{}
	}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	fields, _ := keys(t, "yaml")
	for name, ft := range fields {
		if _, ok := into[name]; !ok {
			into[name] = ft
			allKeys(ft, into)
		}
	}
	return into
}

// hint names the known key nearest to key, or all of them when none is near.
func hint(key string, fields map[string]reflect.Type) string {
	best, at := "", 4
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if d := distance(strings.ToLower(key), strings.ToLower(name)); d < at {
			best, at = name, d
		}
	}
	if best != "" {
		return `; did you mean "` + best + `"?`
	}
	return "; known here: " + strings.Join(names, ", ")
}

// distance is Levenshtein's edit distance over bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diag, row[j] = row[j], min(row[j]+1, row[j-1]+1, diag+cost)
		}
	}
	return row[len(b)]
}
