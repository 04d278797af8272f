package contract

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// bytes returns a string's content; it is part of the document unless the
// string has escapes.
func (t *tape) bytes(n node) []byte {
	in := t.in[n.start:n.end]
	if n.plain {
		return in
	}
	out := make([]byte, 0, len(in))
	u := tape{in: t.in, at: int(n.start)}
	for u.at < int(n.end) {
		if u.in[u.at] != '\\' {
			out = append(out, u.in[u.at])
			u.at++
			continue
		}
		r, err := u.escape()
		if err != nil {
			return out // scan has read it before
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func (t *tape) text(n node) string { return string(t.bytes(n)) }

// tree builds the value at a node as the schema library reads it.
func (t *tape) tree(i int) any {
	switch n := t.nodes[i]; n.kind {
	case '{':
		out := make(map[string]any, n.n)
		for k := i + 1; k < int(n.next); k = int(t.nodes[k+1].next) {
			out[t.text(t.nodes[k])] = t.tree(k + 1)
		}
		return out
	case '[':
		out := make([]any, 0, n.n)
		for k := i + 1; k < int(n.next); k = int(t.nodes[k].next) {
			out = append(out, t.tree(k))
		}
		return out
	case '"':
		return t.text(n)
	case '0':
		return json.Number(t.in[n.start:n.end])
	case 'n':
		return nil
	default:
		return n.kind == 't'
	}
}

// canonical appends the value at a node in the form of RFC 8785.
func (t *tape) canonical(b []byte, i int) ([]byte, error) {
	switch n := t.nodes[i]; n.kind {
	case '{':
		return t.canonicalObject(b, i)
	case '[':
		b = append(b, '[')
		for k := i + 1; k < int(n.next); k = int(t.nodes[k].next) {
			if k > i+1 {
				b = append(b, ',')
			}
			var err error
			if b, err = t.canonical(b, k); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case '"':
		return appendString(b, t.bytes(n)), nil
	case '0':
		lit := t.in[n.start:n.end]
		if n.plain && len(lit) <= 15 && lit[0] != '-' {
			return append(b, lit...), nil // a whole number is written so already
		}
		f, err := strconv.ParseFloat(string(lit), 64)
		if err != nil {
			return nil, err
		}
		return appendFloat(b, f)
	default:
		return append(b, t.in[n.start:n.end]...), nil
	}
}

func (t *tape) canonicalObject(b []byte, i int) ([]byte, error) {
	var few [fewKeys]int
	keys := few[:0]
	for k := i + 1; k < int(t.nodes[i].next); k = int(t.nodes[k+1].next) {
		keys = append(keys, k)
	}
	order := func(a, b int) int { return byUTF16(t.bytes(t.nodes[a]), t.bytes(t.nodes[b])) }
	if !slices.IsSortedFunc(keys, order) {
		slices.SortFunc(keys, order)
	}
	b = append(b, '{')
	for j, k := range keys {
		if j > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, t.bytes(t.nodes[k])), ':')
		var err error
		if b, err = t.canonical(b, k+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendFloat writes a number as ECMAScript does.
func appendFloat(b []byte, f float64) ([]byte, error) {
	s, err := jcs.NumberToJSON(f)
	return append(b, s...), err
}

// appendString writes s as RFC 8785 does; invalid UTF-8 becomes U+FFFD.
func appendString[S string | []byte](b []byte, s S) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	done := 0 // what stands before is written
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r == utf8.RuneError && size == 1 {
				b = utf8.AppendRune(append(b, s[done:i]...), utf8.RuneError)
				done = i + 1
			}
			i += size
			continue
		}
		i++
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(append(b, s[done:i-1]...), '\\')
		done = i
		switch c {
		case '"', '\\':
			b = append(b, c)
		case '\b', '\t', '\n', '\f', '\r':
			b = append(b, "btn?fr"[c-'\b'])
		default:
			b = append(b, 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[done:]...), '"')
}

// byUTF16 orders keys as RFC 8785 does, by UTF-16 code units. That differs
// from the order of bytes only where a surrogate pair meets U+E000 and above.
func byUTF16[S string | []byte](a, b S) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			if a[i] < 0xee || b[i] < 0xee {
				return int(a[i]) - int(b[i])
			}
			return slices.Compare(units(string(a)), units(string(b)))
		}
	}
	return len(a) - len(b)
}
