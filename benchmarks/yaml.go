package benchmarks

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ErrSuite is a suite or route file that can't be used as it is; the
// message is file:line:column: what to do (exit 2).
var ErrSuite = errors.New("unusable file")

// fileError is one fault in one file. Line and column are 1-based; 0 means
// that the place is not known.
type fileError struct {
	file         string
	line, column int
	msg          string
}

func (e *fileError) Error() string {
	if e.line == 0 {
		return e.file + ": " + e.msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.file, e.line, e.column, e.msg)
}

func (e *fileError) Unwrap() error { return ErrSuite }

// document is a decoded YAML file that still knows where its values stand.
type document struct {
	file string
	tree *ast.File
}

// decode reads one YAML document strictly into v, a pointer to a struct.
func decode(file string, data []byte, v any) (document, error) {
	d := document{file: file}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(v); err != nil {
		return d, d.fault(err, v)
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return d, d.fault(err, v)
	}
	if len(tree.Docs) > 1 {
		return d, &fileError{file: file, msg: "more than one YAML document; keep one"}
	}
	d.tree = tree
	return d, nil
}

// fault turns a decoding error into one line with its place.
func (d document) fault(err error, v any) error {
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return &fileError{file: d.file, msg: firstLine(err.Error())}
	}
	e := &fileError{file: d.file, msg: firstLine(ye.GetMessage())}
	t := ye.GetToken()
	if t != nil && t.Position != nil {
		e.line, e.column = t.Position.Line, t.Position.Column
	}
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) && t != nil {
		e.msg = fmt.Sprintf("unknown key %q", t.Value)
		if near := nearest(t.Value, keys(reflect.TypeOf(v))); near != "" {
			e.msg += fmt.Sprintf("; did you mean %q?", near)
		}
	}
	return e
}

// faultAt is a fault in the value at a YAML path like $.arms[1].
func (d document) faultAt(path, format string, args ...any) error {
	e := &fileError{file: d.file, msg: fmt.Sprintf(format, args...)}
	if d.tree == nil {
		return e
	}
	p, err := yaml.PathString(path)
	if err != nil {
		return e
	}
	if node, err := p.FilterFile(d.tree); err == nil && node != nil && node.GetToken() != nil {
		pos := node.GetToken().Position
		e.line, e.column = pos.Line, pos.Column
	}
	return e
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// keys lists every key that a document of type t may hold, anywhere.
func keys(t reflect.Type) []string {
	found := map[string]bool{}
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
			walk(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
				if name != "" && name != "-" {
					found[name] = true
				}
				walk(t.Field(i).Type)
			}
		}
	}
	walk(t)
	out := make([]string, 0, len(found))
	for k := range found {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// nearest returns the known word closest to word, "" when none is close.
func nearest(word string, known []string) string {
	best, at := "", len([]rune(word))/2+1
	for _, k := range known {
		if d := distance(fold(word), fold(k)); d < at {
			best, at = k, d
		}
	}
	return best
}

func fold(s string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		if r == '-' {
			return '_'
		}
		return unicode.ToLower(r)
	}, s))
}

// distance is Levenshtein's: insertions, deletions and substitutions.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
