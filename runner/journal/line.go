package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// set counts the fields of m that are set.
func (m *Message) set() int {
	n := 0
	for _, is := range [...]bool{
		m.Run != nil, m.Route != nil, m.Warmup != nil, m.Trial != nil,
		m.Note != nil, m.Resume != nil, m.Interrupt != nil, m.End != nil,
	} {
		if is {
			n++
		}
	}
	return n
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
