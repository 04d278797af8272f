package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// fields names m's fields and says which are set, in the order of Message.
func (m *Message) fields() [8]struct {
	name string
	set  bool
} {
	return [8]struct {
		name string
		set  bool
	}{
		{"run", m.Run != nil}, {"route", m.Route != nil}, {"warmup", m.Warmup != nil}, {"trial", m.Trial != nil},
		{"note", m.Note != nil}, {"resume", m.Resume != nil}, {"interrupt", m.Interrupt != nil}, {"end", m.End != nil},
	}
}

// Field names the field of m that is set, as JSON does; "" for none.
func (m *Message) Field() string {
	for _, f := range m.fields() {
		if f.set {
			return f.name
		}
	}
	return ""
}

// set counts the fields of m that are set.
func (m *Message) set() int {
	n := 0
	for _, f := range m.fields() {
		if f.set {
			n++
		}
	}
	return n
}

// linesSHA256 is the hash of the lines before it that m names, "" for none.
func (m *Message) linesSHA256() string {
	switch {
	case m.End != nil:
		return m.End.LinesSHA256
	case m.Interrupt != nil:
		return m.Interrupt.LinesSHA256
	case m.Resume != nil:
		return m.Resume.LinesSHA256
	}
	return ""
}

// errFields is a message that breaks the one-field rule.
var errFields = errors.New("a message has exactly one field")

// appendLine appends m's line, newline included, to buf.
func appendLine(buf *bytes.Buffer, m Message) error {
	if m.set() != 1 {
		return errFields
	}
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	return enc.Encode(m) // ends with a newline
}

// parseLine reads one line without its newline, strictly.
func parseLine(line []byte) (Message, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	var m Message
	if err := dec.Decode(&m); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the line ends inside a message")
		}
		return Message{}, err
	}
	if dec.More() {
		return Message{}, errors.New("more than one message on the line")
	}
	if rest, _ := io.ReadAll(dec.Buffered()); len(bytes.TrimSpace(rest)) > 0 {
		return Message{}, errors.New("more than one message on the line")
	}
	if n := m.set(); n != 1 {
		return Message{}, fmt.Errorf("%w, this one has %d", errFields, n)
	}
	return m, nil
}
