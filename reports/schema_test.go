package reports

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers"
)

// enums are the closed sets of values.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[scorers.Verdict](): {"qualified", "not_qualified", "inconclusive", "invalid", "blocked"},
	reflect.TypeFor[journal.Kind]():    {"answered", "abstained", "refused", "model_error", "infra_error", "skipped"},
	reflect.TypeFor[State]():           {"holds", "fails", "open", "unproven", "not_applicable"},
	reflect.TypeFor[MetricState]():     {"measured", "not_applicable", "not_measured"},
}

// schemaOf derives the JSON Schema of a type as encoding/json writes it.
func schemaOf(t reflect.Type, defs map[string]any) map[string]any {
	if vs, ok := enums[t]; ok {
		return map[string]any{"type": "string", "enum": vs}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), defs)
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Interface:
		return map[string]any{}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), defs)}
	case reflect.Map:
		s := map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem(), defs)}
		if vs, ok := enums[t.Key()]; ok {
			s["propertyNames"] = map[string]any{"enum": vs}
		}
		return s
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return map[string]any{"type": "string", "format": "date-time"}
		}
		pkg := t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:]
		name := pkg + "." + t.Name()
		if _, ok := defs[name]; !ok {
			props, required := map[string]any{}, []string{}
			defs[name] = nil // breaks cycles
			for i := range t.NumField() {
				tag, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
				if tag == "-" {
					continue
				}
				props[tag] = schemaOf(t.Field(i).Type, defs)
				if !strings.Contains(opts, "omitempty") {
					required = append(required, tag)
				}
			}
			defs[name] = map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false}
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	}
	panic("no schema for " + t.String())
}

// TestSchema keeps the shipped schema and the types in step (H-009).
func TestSchema(t *testing.T) {
	defs := map[string]any{}
	root := schemaOf(reflect.TypeFor[Document](), defs)
	doc := defs["reports.Document"].(map[string]any)["properties"].(map[string]any)
	doc["schema"] = map[string]any{"const": Schema}
	doc["autonomy_claim"] = map[string]any{"const": AutonomyClaim}
	for field, n := range map[string]int{"posture": 5, "rules": 8, "metrics": 15} {
		a := doc[field].(map[string]any)
		a["minItems"], a["maxItems"] = n, n
	}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "assay-report.v1.schema.json"
	root["title"] = "assay qualification report"
	root["$defs"] = defs
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		t.Fatal(err)
	}
	const path = "schema/assay-report.v1.schema.json"
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(b.Bytes(), SchemaJSON) {
		t.Errorf("%s does not match the types; run go test ./reports -run TestSchema -update", path)
	}
}
