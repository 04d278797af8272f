package reports

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// SchemaJSON is the JSON Schema that every document obeys.
//
//go:embed schema/assay-report.v1.schema.json
var SchemaJSON []byte

// ErrDocument is what Read's errors wrap: the bytes are no valid document.
var ErrDocument = errors.New("not a valid " + Schema + " document")

var formatJSON = Format{
	Name: "json", File: "document.json", Ext: ".json",
	About:  "the truth; everything else derives from it",
	Render: func(w io.Writer, d Document, _ Options) error { return writeJSON(w, d) },
}

// writeJSON writes the document itself: nothing is stripped from it, but what
// could act on a terminal or a page is written as an escape.
func writeJSON(w io.Writer, d Document) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tidy(d)); err != nil {
		return fmt.Errorf("encode document: %w", err)
	}
	_, err := w.Write(EscapeHidden(b.Bytes()))
	return err
}

// EscapeHidden writes the hidden characters of JSON as \u escapes. Outside of
// strings JSON has none but line ends and tabs, so the value stays the same.
func EscapeHidden(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r < 0x7f || !hidden(r):
			out = append(out, b[i:i+size]...)
		case r > 0xFFFF:
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out
}

// Read reads one document and refuses anything else: another schema version,
// an unknown or missing field, a value out of its range, bytes after the end,
// or rows that a document always has.
func Read(r io.Reader) (Document, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return Document{}, fmt.Errorf("read document: %w", err)
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return Document{}, fmt.Errorf("%w: %v", ErrDocument, err)
	}
	if head.Schema != Schema {
		return Document{}, fmt.Errorf("%w: schema is %q; this version reads %q", ErrDocument, head.Schema, Schema)
	}
	var d Document
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return Document{}, fmt.Errorf("%w: %v", ErrDocument, err)
	}
	if dec.More() {
		return Document{}, fmt.Errorf("%w: there are bytes after its end", ErrDocument)
	}
	if err := checkSchema(raw); err != nil {
		return Document{}, err
	}
	if err := check(d); err != nil {
		return Document{}, fmt.Errorf("%w: %v", ErrDocument, err)
	}
	return tidy(d), nil
}

var compiledSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	s, err := jsonschema.UnmarshalJSON(bytes.NewReader(SchemaJSON))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	const at = "assay-report.v1.schema.json"
	if err := c.AddResource(at, s); err != nil {
		return nil, err
	}
	return c.Compile(at)
})

func checkSchema(raw []byte) error {
	s, err := compiledSchema()
	if err != nil {
		return fmt.Errorf("report schema: %w", err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%w: %v", ErrDocument, err)
	}
	var ve *jsonschema.ValidationError
	if err := s.Validate(v); errors.As(err, &ve) {
		for len(ve.Causes) > 0 {
			ve = ve.Causes[0]
		}
		msg := strings.ReplaceAll(ve.Error(), "\n", " ")
		_, msg, _ = strings.Cut(msg, ": ")
		return fmt.Errorf("%w: at /%s: %s", ErrDocument, strings.Join(ve.InstanceLocation, "/"), msg)
	} else if err != nil {
		return fmt.Errorf("%w: %v", ErrDocument, err)
	}
	return nil
}

// check is what the schema can't say.
func check(d Document) error {
	for i, w := range postureWords {
		if i >= len(d.Posture) || d.Posture[i].Word != w.Word {
			return fmt.Errorf("posture row %q is missing (F-001)", w.Word)
		}
	}
	for i, r := range ruleRows {
		if i >= len(d.Rules) || d.Rules[i].ID != r.ID {
			return fmt.Errorf("rule row %s is missing (F-003)", r.ID)
		}
	}
	for i, m := range metricRows {
		if i >= len(d.Metrics) || d.Metrics[i].ID != m.ID {
			return fmt.Errorf("metric row %q is missing (F-151)", m.ID)
		}
	}
	if want, _ := capVerdict(d); badness(d.Verdict) < badness(want) {
		return fmt.Errorf("verdict %s is better than its own rows allow (%s)", d.Verdict, want)
	}
	return nil
}

// Same reports whether two documents say the same of a run: all but when and by
// which build they were written, and how to read them.
func Same(a, b Document) (bool, error) {
	var texts [2]bytes.Buffer
	for i, d := range []Document{a, b} {
		d.GeneratedAt, d.Tool, d.HowToRead = time.Time{}, Tool{}, nil
		if err := writeJSON(&texts[i], d); err != nil {
			return false, err
		}
	}
	return bytes.Equal(texts[0].Bytes(), texts[1].Bytes()), nil
}
