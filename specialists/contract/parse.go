package contract

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deeply a document may nest; the deepest shape needs 8.
const maxDepth = 32

// parse reads one JSON document (RFC 8259) into the tree that a schema is
// checked on. encoding/json would accept what this refuses: duplicate keys and
// lone surrogates. A fuzz target holds the two together on everything else.
func parse(shape string, raw []byte) (any, error) {
	p := parser{shape: shape, in: raw}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(p.in) {
		return nil, p.fault(FaultTrailing, "text after the document")
	}
	return v, nil
}

type parser struct {
	shape string
	in    []byte
	at    int
	path  []string
}

func (p *parser) fault(k FaultKind, what string) error {
	return &DecodeError{Shape: p.shape, Kind: k, Pointer: pointer(p.path), Detail: fmt.Sprintf("byte %d: %s", p.at, what)}
}

func (p *parser) space() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// next skips space and returns the byte there, or 0 at the end.
func (p *parser) next() byte {
	p.space()
	if p.at >= len(p.in) {
		return 0
	}
	return p.in[p.at]
}

func (p *parser) value(depth int) (any, error) {
	switch c := p.next(); {
	case c == '{' || c == '[':
		if depth >= maxDepth {
			return nil, p.fault(FaultDepth, "nested too deeply")
		}
		p.at++
		if c == '{' {
			return p.object(depth)
		}
		return p.array(depth)
	case c == '"':
		return p.string()
	case c == 't':
		return true, p.word("true")
	case c == 'f':
		return false, p.word("false")
	case c == 'n':
		return nil, p.word("null")
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	default:
		return nil, p.fault(FaultSyntax, "no value")
	}
}

func (p *parser) word(w string) error {
	if p.at+len(w) > len(p.in) || string(p.in[p.at:p.at+len(w)]) != w {
		return p.fault(FaultSyntax, "no value")
	}
	p.at += len(w)
	return nil
}

func (p *parser) array(depth int) (any, error) {
	out := []any{}
	if p.next() == ']' {
		p.at++
		return out, nil
	}
	for {
		p.path = append(p.path, strconv.Itoa(len(out)))
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		out = append(out, v)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return out, nil
		default:
			return nil, p.fault(FaultSyntax, "array goes on with neither , nor ]")
		}
	}
}

func (p *parser) object(depth int) (any, error) {
	out := map[string]any{}
	if p.next() == '}' {
		p.at++
		return out, nil
	}
	for {
		if p.next() != '"' {
			return nil, p.fault(FaultSyntax, "no key")
		}
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		p.path = append(p.path, key)
		if _, ok := out[key]; ok {
			return nil, p.fault(FaultDuplicateKey, "key stands twice")
		}
		if p.next() != ':' {
			return nil, p.fault(FaultSyntax, "key without :")
		}
		p.at++
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		out[key] = v
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			return out, nil
		default:
			return nil, p.fault(FaultSyntax, "object goes on with neither , nor }")
		}
	}
}

// number keeps the digits as they are written.
func (p *parser) number() (any, error) {
	start := p.at
	if p.in[p.at] == '-' {
		p.at++
	}
	whole := p.digits()
	first := start
	if p.in[start] == '-' {
		first++
	}
	if whole == 0 || whole > 1 && p.in[first] == '0' {
		return nil, p.fault(FaultSyntax, "bad number")
	}
	if p.at < len(p.in) && p.in[p.at] == '.' {
		p.at++
		if p.digits() == 0 {
			return nil, p.fault(FaultSyntax, "bad number")
		}
	}
	if p.at < len(p.in) && (p.in[p.at] == 'e' || p.in[p.at] == 'E') {
		p.at++
		if p.at < len(p.in) && (p.in[p.at] == '+' || p.in[p.at] == '-') {
			p.at++
		}
		if p.digits() == 0 {
			return nil, p.fault(FaultSyntax, "bad number")
		}
	}
	n := json.Number(p.in[start:p.at])
	if _, err := n.Float64(); err != nil {
		return nil, p.fault(FaultValue, "number out of range")
	}
	return n, nil
}

func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.in) && p.in[p.at] >= '0' && p.in[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}

// string reads a string from its opening quote; the input is valid UTF-8.
func (p *parser) string() (string, error) {
	p.at++
	start := p.at
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c == '"':
			s := string(p.in[start:p.at])
			p.at++
			return s, nil
		case c == '\\':
			return p.escaped(append([]byte{}, p.in[start:p.at]...))
		case c < 0x20:
			return "", p.fault(FaultSyntax, "control character in a string")
		default:
			p.at++
		}
	}
	return "", p.fault(FaultSyntax, "string without end")
}

// escaped reads on from the first escape; out is what stood before it.
func (p *parser) escaped(out []byte) (string, error) {
	for p.at < len(p.in) {
		c := p.in[p.at]
		switch {
		case c == '"':
			p.at++
			return string(out), nil
		case c < 0x20:
			return "", p.fault(FaultSyntax, "control character in a string")
		case c != '\\':
			out = append(out, c)
			p.at++
			continue
		}
		r, err := p.escape()
		if err != nil {
			return "", err
		}
		out = utf8.AppendRune(out, r)
	}
	return "", p.fault(FaultSyntax, "string without end")
}

var plainEscapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *parser) escape() (rune, error) {
	if p.at+1 >= len(p.in) {
		return 0, p.fault(FaultSyntax, "string without end")
	}
	if r, ok := plainEscapes[p.in[p.at+1]]; ok {
		p.at += 2
		return r, nil
	}
	r, ok := p.unit(p.at)
	if !ok {
		return 0, p.fault(FaultSyntax, "unknown escape")
	}
	if !utf16.IsSurrogate(r) {
		p.at += 6
		return r, nil
	}
	low, ok := p.unit(p.at + 6)
	pair := utf16.DecodeRune(r, low)
	if !ok || pair == utf8.RuneError {
		return 0, p.fault(FaultUTF8, "lone surrogate")
	}
	p.at += 12
	return pair, nil
}

// unit reads a \uXXXX at offset i.
func (p *parser) unit(i int) (rune, bool) {
	if i+6 > len(p.in) || p.in[i] != '\\' || p.in[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range p.in[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
