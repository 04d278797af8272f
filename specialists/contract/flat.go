package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Flat reads a model's answer: one flat JSON object that has exactly the fields' keys,
// each once and spelled the same, into what the fields point at. Its errors
// repeat nothing of the text: it is the model's.
func Flat(text string, fields map[string]any) error {
	if !utf8.ValidString(text) {
		return errors.New("not UTF-8")
	}
	d := json.NewDecoder(strings.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		key, _ := t.(string)
		into, ok := fields[key]
		switch {
		case err != nil:
			return errors.New("malformed object")
		case !ok:
			return errors.New("a key that was not asked for")
		case seen[key]:
			return fmt.Errorf("key %s stands twice", key)
		}
		seen[key] = true
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fmt.Errorf("malformed value of %s", key)
		}
		if err := json.Unmarshal(raw, into); err != nil || string(raw) == "null" {
			return fmt.Errorf("wrong type of %s", key)
		}
	}
	if _, err := d.Token(); err != nil {
		return errors.New("the object does not end")
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("text after the object")
	}
	if len(seen) != len(fields) {
		return errors.New("a key is missing")
	}
	return nil
}
