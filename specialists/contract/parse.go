package contract

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxDepth  = 32  // of nesting; the deepest shape needs 8
	maxNumber = 400 // bytes of one number; no float64 needs more
	maxExp    = 4   // digits of an exponent; a schema check computes its power
	fewKeys   = 16  // up to here an object's keys are compared one by one
)

// parse reads one JSON document (RFC 8259) into the tree that the schema
// library is asked about. encoding/json would accept what this refuses:
// duplicate keys and lone surrogates. A fuzz target holds the two together on
// everything else.
func parse(shape string, raw []byte) (any, error) {
	t, err := scan(shape, raw)
	if err != nil {
		return nil, err
	}
	defer t.free()
	return t.tree(0), nil
}

// tape is a document that was read: its values in document order, each
// pointing back into the bytes, so that checking, decoding and canonical form
// need neither a tree nor a second reading.
type tape struct {
	shape string
	in    []byte
	at    int
	nodes []node
	steps []step // from the document to the value being read
}

// node is a value or a key. kind is its first byte, or '0' for a number.
type node struct {
	kind       byte
	plain      bool   // a string without escapes
	start, end uint32 // the bytes; of a string those between its quotes
	next       uint32 // the node after the value and all that is in it
	n          uint32 // members or elements
}

// step is one part of a path: a key's node, or an index if key is negative.
type step struct{ key, index int }

var tapes = sync.Pool{New: func() any { return new(tape) }}

// scan reads a document; the tape must be freed and refers to raw until then.
func scan(shape string, raw []byte) (*tape, error) {
	t := tapes.Get().(*tape)
	t.shape, t.in, t.at, t.nodes, t.steps = shape, raw, 0, t.nodes[:0], t.steps[:0]
	err := t.document(0)
	if err != nil {
		t.free()
		return nil, err
	}
	return t, nil
}

func (t *tape) document(depth int) error {
	if err := t.value(depth); err != nil {
		return err
	}
	t.space()
	if t.at < len(t.in) {
		return t.fault(FaultTrailing, "text after the document")
	}
	return nil
}

func (t *tape) free() {
	if cap(t.nodes) <= 1<<14 { // a huge document's tape is not kept
		t.in = nil
		tapes.Put(t)
	}
}

func (t *tape) fault(k FaultKind, what string) error {
	path := make([]string, len(t.steps))
	for i, s := range t.steps {
		if s.key < 0 {
			path[i] = strconv.Itoa(s.index)
		} else {
			path[i] = t.text(t.nodes[s.key])
		}
	}
	return &DecodeError{Shape: t.shape, Kind: k, Pointer: pointer(path), Detail: fmt.Sprintf("byte %d: %s", t.at, what)}
}

func (t *tape) space() {
	for t.at < len(t.in) {
		switch t.in[t.at] {
		case ' ', '\t', '\n', '\r':
			t.at++
		default:
			return
		}
	}
}

// peek skips space and returns the byte there, or 0 at the end.
func (t *tape) peek() byte {
	t.space()
	if t.at >= len(t.in) {
		return 0
	}
	return t.in[t.at]
}

// leaf appends a value without parts that ends here.
func (t *tape) leaf(kind byte, plain bool, start, end int) {
	t.nodes = append(t.nodes, node{kind: kind, plain: plain, start: uint32(start), end: uint32(end), next: uint32(len(t.nodes) + 1)})
}

func (t *tape) value(depth int) error {
	switch c := t.peek(); {
	case c == '{' || c == '[':
		if depth >= maxDepth {
			return t.fault(FaultDepth, "nested too deeply")
		}
		self := len(t.nodes)
		t.leaf(c, false, t.at, t.at)
		t.at++
		n, err := 0, error(nil)
		if c == '{' {
			n, err = t.object(depth)
		} else {
			n, err = t.array(depth)
		}
		t.nodes[self].end, t.nodes[self].next, t.nodes[self].n = uint32(t.at), uint32(len(t.nodes)), uint32(n)
		return err
	case c == '"':
		return t.string()
	case c == 't':
		return t.word("true")
	case c == 'f':
		return t.word("false")
	case c == 'n':
		return t.word("null")
	case c == '-' || c >= '0' && c <= '9':
		return t.number()
	default:
		return t.fault(FaultSyntax, "no value")
	}
}

func (t *tape) word(w string) error {
	if t.at+len(w) > len(t.in) || string(t.in[t.at:t.at+len(w)]) != w {
		return t.fault(FaultSyntax, "no value")
	}
	t.leaf(w[0], false, t.at, t.at+len(w))
	t.at += len(w)
	return nil
}

func (t *tape) array(depth int) (int, error) {
	if t.peek() == ']' {
		t.at++
		return 0, nil
	}
	for n := 0; ; {
		t.steps = append(t.steps, step{key: -1, index: n})
		if err := t.value(depth + 1); err != nil {
			return n, err
		}
		t.steps = t.steps[:len(t.steps)-1]
		n++
		switch t.peek() {
		case ',':
			t.at++
		case ']':
			t.at++
			return n, nil
		default:
			return n, t.fault(FaultSyntax, "array goes on with neither , nor ]")
		}
	}
}

func (t *tape) object(depth int) (int, error) {
	if t.peek() == '}' {
		t.at++
		return 0, nil
	}
	first := len(t.nodes)
	var seen map[string]bool // made once the keys are many
	for n := 0; ; {
		if t.peek() != '"' {
			return n, t.fault(FaultSyntax, "no key")
		}
		key := len(t.nodes)
		if err := t.string(); err != nil {
			return n, err
		}
		t.steps = append(t.steps, step{key: key})
		if t.twice(first, key, n, &seen) {
			return n, t.fault(FaultDuplicateKey, "key stands twice")
		}
		if t.peek() != ':' {
			return n, t.fault(FaultSyntax, "key without :")
		}
		t.at++
		if err := t.value(depth + 1); err != nil {
			return n, err
		}
		t.steps = t.steps[:len(t.steps)-1]
		n++
		switch t.peek() {
		case ',':
			t.at++
		case '}':
			t.at++
			return n, nil
		default:
			return n, t.fault(FaultSyntax, "object goes on with neither , nor }")
		}
	}
}

// twice reports whether a key is one of the n before it in its object.
func (t *tape) twice(first, key, n int, seen *map[string]bool) bool {
	if n < fewKeys {
		k := t.bytes(t.nodes[key])
		for i := first; i < key; i = int(t.nodes[i+1].next) {
			if bytes.Equal(k, t.bytes(t.nodes[i])) {
				return true
			}
		}
		return false
	}
	if *seen == nil {
		*seen = make(map[string]bool, 2*fewKeys)
		for i := first; i < key; i = int(t.nodes[i+1].next) {
			(*seen)[t.text(t.nodes[i])] = true
		}
	}
	k := t.text(t.nodes[key])
	if (*seen)[k] {
		return true
	}
	(*seen)[k] = true
	return false
}

// number keeps the digits as they are written.
func (t *tape) number() error {
	start := t.at
	if t.in[t.at] == '-' {
		t.at++
	}
	first := t.at
	whole := t.digits()
	if whole == 0 || whole > 1 && t.in[first] == '0' {
		return t.fault(FaultSyntax, "bad number")
	}
	exp, integer := 0, true
	if t.at < len(t.in) && t.in[t.at] == '.' {
		t.at++
		integer = false
		if t.digits() == 0 {
			return t.fault(FaultSyntax, "bad number")
		}
	}
	if t.at < len(t.in) && (t.in[t.at] == 'e' || t.in[t.at] == 'E') {
		t.at++
		integer = false
		if t.at < len(t.in) && (t.in[t.at] == '+' || t.in[t.at] == '-') {
			t.at++
		}
		if exp = t.digits(); exp == 0 {
			return t.fault(FaultSyntax, "bad number")
		}
	}
	if t.at-start > maxNumber || exp > maxExp {
		return t.fault(FaultValue, "number out of range")
	}
	if !integer || whole > 15 {
		if _, err := strconv.ParseFloat(string(t.in[start:t.at]), 64); err != nil {
			return t.fault(FaultValue, "number out of range")
		}
	}
	t.leaf('0', integer, start, t.at)
	return nil
}

func (t *tape) digits() int {
	start := t.at
	for t.at < len(t.in) && t.in[t.at] >= '0' && t.in[t.at] <= '9' {
		t.at++
	}
	return t.at - start
}

// string reads a string from its opening quote; the input is valid UTF-8.
func (t *tape) string() error {
	t.at++
	start, plain := t.at, true
	for t.at < len(t.in) {
		switch c := t.in[t.at]; {
		case c == '"':
			t.leaf('"', plain, start, t.at)
			t.at++
			return nil
		case c == '\\':
			plain = false
			if _, err := t.escape(); err != nil {
				return err
			}
		case c < 0x20:
			return t.fault(FaultSyntax, "control character in a string")
		default:
			t.at++
		}
	}
	return t.fault(FaultSyntax, "string without end")
}

func (t *tape) escape() (rune, error) {
	if t.at+1 >= len(t.in) {
		return 0, t.fault(FaultSyntax, "string without end")
	}
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), t.in[t.at+1]); i >= 0 {
		t.at += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := t.unit(t.at)
	if !ok {
		return 0, t.fault(FaultSyntax, "unknown escape")
	}
	if !utf16.IsSurrogate(r) {
		t.at += 6
		return r, nil
	}
	low, ok := t.unit(t.at + 6)
	pair := utf16.DecodeRune(r, low)
	if !ok || pair == utf8.RuneError {
		return 0, t.fault(FaultUTF8, "lone surrogate")
	}
	t.at += 12
	return pair, nil
}

// unit reads a \uXXXX at offset i.
func (t *tape) unit(i int) (rune, bool) {
	if i+6 > len(t.in) || t.in[i] != '\\' || t.in[i+1] != 'u' {
		return 0, false
	}
	r, err := strconv.ParseUint(string(t.in[i+2:i+6]), 16, 32)
	return rune(r), err == nil
}
