package reports

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// harmless returns a copy of the document whose strings can be shown anywhere:
// terminal escape sequences are gone, and control characters, direction marks
// and invisible characters stand there by name. Only evidence keeps its lines.
// Every renderer gets such a copy; the escaping of its own format comes on
// top.
func harmless(d Document) Document {
	return rewriter{
		str:  func(s string) string { return visible(s, false) },
		text: func(s string) string { return visible(s, true) },
	}.document(d)
}

// Line makes a string harmless, as one line: what every text for a terminal
// that comes from a model, a corpus or a file goes through.
func Line(s string) string { return visible(s, false) }

// Text is [Line] with line ends and tabs kept.
func Text(s string) string { return visible(s, true) }

// maxMarks bounds the combining marks after one character.
const maxMarks = 3

// visible makes one string harmless. With lines, line ends and tabs stay;
// without, they become spaces.
func visible(s string, lines bool) string {
	s = stripEscapes(s)
	var b strings.Builder
	b.Grow(len(s))
	marks := 0
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size <= 1 {
				b.WriteRune('\uFFFD')
				continue
			}
		}
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		switch {
		case r == '\n' || r == '\t':
			if lines {
				b.WriteRune(r)
			} else {
				b.WriteByte(' ')
			}
		case r == '\r':
			// A lone one would let a line overwrite itself; a CRLF needs none.
			if !strings.HasPrefix(s[i+1:], "\n") {
				if lines {
					b.WriteByte('\n')
				} else {
					b.WriteByte(' ')
				}
			}
		case r >= 0xFE00 && r <= 0xFE0F:
			// A variation selector only picks how an emoji is drawn.
		case hidden(r):
			fmt.Fprintf(&b, "[U+%04X]", r)
		default:
			b.WriteRune(r)
		}
	}
	if lines {
		return b.String()
	}
	return strings.TrimSpace(b.String())
}

// hidden reports whether r acts on its surroundings or shows nothing: control
// and format characters (direction marks, zero-width ones, tags), line and
// paragraph separators, private use, non-characters, and letters that are
// drawn as blanks.
func hidden(r rune) bool {
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800:
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) ||
		r&0xFFFE == 0xFFFE || r >= 0xFDD0 && r <= 0xFDEF ||
		r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF
}

// stripEscapes removes ANSI/ECMA-48 sequences in their 7-bit and 8-bit forms:
// CSI up to its final byte, and OSC, DCS, SOS, PM and APC up to their
// terminator. What never ends is dropped up to the end of its line, so that an
// unfinished sequence can't hide the rest of the text.
func stripEscapes(s string) string {
	if !strings.ContainsAny(s, "\x1b\u0090\u0098\u009b\u009d\u009e\u009f") {
		return s
	}
	var b strings.Builder
	rs := []rune(s)
	for i := 0; i < len(rs); {
		kind, skip := introducer(rs[i:])
		if skip == 0 {
			b.WriteRune(rs[i])
			i++
			continue
		}
		i += skip
		switch kind {
		case '[':
			for i < len(rs) && rs[i] >= 0x20 && rs[i] < 0x40 {
				i++
			}
			if i < len(rs) && rs[i] >= 0x40 && rs[i] < 0x7f {
				i++
			}
		case ']':
			i += stringLength(rs[i:])
		}
	}
	return b.String()
}

// introducer says what begins at rs[0]: '[' a control sequence, ']' a control
// string, ' ' a short escape; skip is the introducer's length, 0 for none.
func introducer(rs []rune) (kind rune, skip int) {
	switch rs[0] {
	case 0x9b:
		return '[', 1
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		return ']', 1
	case 0x1b:
		if len(rs) == 1 {
			return ' ', 1
		}
		switch rs[1] {
		case '[':
			return '[', 2
		case ']', 'P', 'X', '^', '_':
			return ']', 2
		}
		n := 1
		for n < len(rs) && rs[n] >= 0x20 && rs[n] < 0x30 {
			n++
		}
		if n < len(rs) && rs[n] >= 0x30 && rs[n] < 0x7f {
			n++
		}
		return ' ', n
	}
	return 0, 0
}

// stringLength is the length of a control string with its terminator (BEL, ST
// or ESC \), or up to the end of the line if it has none there.
func stringLength(rs []rune) int {
	for i, r := range rs {
		switch {
		case r == 0x07 || r == 0x9c:
			return i + 1
		case r == 0x1b && i+1 < len(rs) && rs[i+1] == '\\':
			return i + 2
		case r == '\n':
			return i
		}
	}
	return len(rs)
}

// cut shortens a string to at most n characters and says how many are missing.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	rs := []rune(s)
	if len(rs) <= n {
		return s
	}
	return fmt.Sprintf("%s… (%d more characters)", string(rs[:n]), len(rs)-n)
}
