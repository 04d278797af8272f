// Package strict owns the reading of hand-editable files: JSON lines and YAML
// in exactly one form, each fault with its place and what to do about it. It
// refuses to guess: an unknown or repeated key, trailing text, a byte order
// mark, a NUL or bytes that are no UTF-8 are errors, never repaired.
package strict

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// ErrInvalid is what every Error unwraps to.
var ErrInvalid = errors.New("invalid")

// MaxLine bounds one line of a JSON lines file, in bytes.
const MaxLine = 16 << 20

// Error is one fault in one file. Line and Col are 1-based; 0 means the whole
// file or the whole line.
type Error struct {
	File string
	Line int
	Col  int
	Msg  string // what is wrong and what to do
}

// Error renders the fault as file:line:column: message.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Col > 0 {
			fmt.Fprintf(&b, ":%d", e.Col)
		}
	}
	b.WriteString(": ")
	b.WriteString(e.Msg)
	return b.String()
}

// Unwrap makes errors.Is(err, ErrInvalid) hold.
func (e *Error) Unwrap() error { return ErrInvalid }

// Errorf builds an Error for one line of a file.
func Errorf(file string, line int, format string, args ...any) error {
	return &Error{File: file, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// Lines calls fn for each line of a JSON lines file, without its newline. The
// slice is only valid during the call. It stops at the first fault.
func Lines(r io.Reader, file string, fn func(line int, raw []byte) error) error {
	br := bufio.NewReaderSize(r, 1<<16)
	var buf []byte
	for n := 1; ; n++ {
		buf = buf[:0]
		var err error
		for {
			var part []byte
			part, err = br.ReadSlice('\n')
			buf = append(buf, part...)
			if len(buf) > MaxLine {
				return Errorf(file, n, "line is longer than %d bytes; shorten the evidence text", MaxLine)
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if errors.Is(err, io.EOF) {
			if len(buf) == 0 {
				return nil
			}
			if terr := text(file, n, buf); terr != nil {
				return terr
			}
			return Errorf(file, n, "last line has no newline, so the file may be cut off; complete it and end it with a newline")
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		raw := buf[:len(buf)-1]
		if err := text(file, n, raw); err != nil {
			return err
		}
		if err := fn(n, raw); err != nil {
			return err
		}
	}
}

// text checks the bytes of one line.
func text(file string, line int, raw []byte) error {
	switch {
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")):
		return Errorf(file, line, "byte order mark; save the file as UTF-8 without one")
	case bytes.IndexByte(raw, 0) >= 0:
		return Errorf(file, line, "NUL byte; remove it")
	case !utf8.Valid(raw):
		return Errorf(file, line, "bytes that are not UTF-8; save the file as UTF-8")
	case bytes.HasSuffix(raw, []byte("\r")):
		return Errorf(file, line, "line ends with CR LF; save the file with LF line ends")
	case len(bytes.TrimSpace(raw)) == 0:
		return Errorf(file, line, "empty line; remove it")
	}
	return nil
}

// Object decodes raw, one JSON object, into v, a pointer to a struct. Keys must
// be exactly those of v's json tags, each at most once.
func Object(file string, line int, raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		var syn *json.SyntaxError
		if errors.As(err, &syn) && strings.Contains(syn.Error(), "after top-level value") {
			return &Error{File: file, Line: line, Col: int(syn.Offset), Msg: "text after the object; put one object on each line"}
		}
		return Errorf(file, line, "%s", message(err))
	}
	k := keyCheck{raw: raw}
	if err := k.value(reflect.TypeOf(v).Elem()); err != nil {
		return Errorf(file, line, "%s", err)
	}
	if err := escapes(raw); err != nil {
		return Errorf(file, line, "%s", err)
	}
	return nil
}

// message turns the decoder's errors into one line that says what to do.
func message(err error) string {
	var typ *json.UnmarshalTypeError
	var syn *json.SyntaxError
	switch {
	case errors.As(err, &typ) && typ.Field == "":
		return "not a JSON object; each line must be one object"
	case errors.As(err, &typ):
		return fmt.Sprintf("%q must be a %s, not a %s", typ.Field, typ.Type, typ.Value)
	case errors.As(err, &syn), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Sprintf("not a JSON object: %v; mend the line", err)
	}
	return err.Error()
}

// escapes refuses \u0000 and half surrogate pairs, which the decoder would
// pass on or replace in silence.
func escapes(raw []byte) error {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return nil
	}
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' || i+4 >= len(raw) {
			continue
		}
		switch hex := strings.ToLower(string(raw[i+1 : i+5])); {
		case hex == "0000":
			return errors.New(`NUL character (\u0000) in a string; remove it`)
		case hex >= "d800" && hex < "dc00":
			next := raw[i+5:]
			if len(next) < 6 || next[0] != '\\' || next[1] != 'u' || !low(strings.ToLower(string(next[2:6]))) {
				return fmt.Errorf(`half a surrogate pair (\u%s); write the whole character`, hex)
			}
			i += 10
		case low(hex):
			return fmt.Errorf(`half a surrogate pair (\u%s); write the whole character`, hex)
		}
	}
	return nil
}

func low(hex string) bool { return hex >= "dc00" && hex < "e000" }
