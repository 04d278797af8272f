package contract

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// FaultKind says in which way a document is not what its shape demands.
type FaultKind string

// The ways in which Decode refuses a document.
const (
	FaultSize         FaultKind = "too_large"
	FaultUTF8         FaultKind = "bad_utf8"
	FaultSyntax       FaultKind = "syntax"
	FaultDepth        FaultKind = "too_deep"
	FaultDuplicateKey FaultKind = "duplicate_key"
	FaultTrailing     FaultKind = "trailing_text"
	FaultUnknownKey   FaultKind = "unknown_key"
	FaultMissingKey   FaultKind = "missing_key"
	FaultEnum         FaultKind = "unknown_member"
	FaultType         FaultKind = "wrong_type"
	FaultValue        FaultKind = "bad_value"
)

// DecodeError is a refused document: Pointer is the JSON Pointer (RFC 6901)
// of the place, empty for the whole document.
type DecodeError struct {
	Shape   string
	Kind    FaultKind
	Pointer string
	Detail  string
}

func (e *DecodeError) Error() string {
	at := e.Pointer
	if at == "" {
		at = "/"
	}
	return fmt.Sprintf("decode %s: %s at %s: %s", e.Shape, e.Kind, at, e.Detail)
}

// ErrBudget is what a metered model answers once a budget of the request is
// used up (F-034). A specialist that meets it returns what it has as partial.
var ErrBudget = errors.New("budget exhausted")

// ErrModelsDisabled is what a model answers while models are switched off.
var ErrModelsDisabled = errors.New("models are disabled")

// Fault is an error that knows its reason code, for specialists and routes
// that can say why they failed.
type Fault struct {
	Reason ReasonCode
	Err    error
}

func (f *Fault) Error() string { return fmt.Sprintf("%s: %v", f.Reason, f.Err) }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// ReasonOf returns the reason code that an error carries, or fallback.
func ReasonOf(err error, fallback ReasonCode) ReasonCode {
	var f *Fault
	if errors.As(err, &f) {
		return f.Reason
	}
	if errors.Is(err, ErrBudget) {
		return ReasonBudgetExhausted
	}
	if errors.Is(err, ErrModelsDisabled) {
		return ReasonModelsDisabled
	}
	return fallback
}

// fromSchema turns the first leaf of a schema violation into a DecodeError.
func fromSchema(shape string, err error) error {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return &DecodeError{Shape: shape, Kind: FaultValue, Detail: err.Error()}
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	at := v.InstanceLocation
	k := FaultValue
	switch d := v.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		k = FaultUnknownKey
		if len(d.Properties) > 0 {
			at = append(append([]string{}, at...), d.Properties[0])
		}
	case *kind.Required:
		k = FaultMissingKey
		if len(d.Missing) > 0 {
			at = append(append([]string{}, at...), d.Missing[0])
		}
	case *kind.Enum, *kind.Const:
		k = FaultEnum
	case *kind.Type:
		k = FaultType
	}
	return &DecodeError{
		Shape: shape, Kind: k, Pointer: pointer(at),
		Detail: clip(v.ErrorKind.LocalizedString(message.NewPrinter(language.English))),
	}
}

// pointer writes a path as a JSON Pointer.
func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}

// clip keeps foreign text in an error short.
func clip(s string) string {
	const most = 160
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
