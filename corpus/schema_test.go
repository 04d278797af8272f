package corpus_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The shipped schemas, which editors complete from, accept every YAML file that
// the loader accepts.
func TestSchemas(t *testing.T) {
	for schema, pattern := range map[string]string{
		"corpus.schema.json":   "*/corpus.yaml",
		"taxonomy.schema.json": "taxonomies/*.yaml",
		"recipe.schema.json":   "pilot-v1/recipes/*/recipe.yaml",
	} {
		s, err := jsonschema.NewCompiler().Compile(filepath.Join("schema", schema))
		if err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var v any
			if err := yaml.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(v); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
