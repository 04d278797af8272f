package contract

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed schema/*.v1.json
var schemaFiles embed.FS

// Schemas returns the shipped JSON Schema files, named "<Shape>.v1.json"; the
// shapes refer to common.v1.json beside them.
func Schemas() fs.FS {
	sub, err := fs.Sub(schemaFiles, "schema")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return sub
}

// schemaBase is where the compiler finds the files; nothing is fetched.
const schemaBase = "assay:///schema/"

// wire are the Go shapes that have a schema of their own, with the bytes that
// one document may have.
var wire = map[reflect.Type]struct {
	name string
	max  int
}{
	reflect.TypeFor[GatewayRequest]():           {"GatewayRequest", 1 << 20},
	reflect.TypeFor[GatewayResponse]():          {"GatewayResponse", 4 << 20},
	reflect.TypeFor[DeterministicSufficiency](): {"DeterministicSufficiency", 4 << 20},
	reflect.TypeFor[ContextPolicyDigest]():      {"ContextPolicyDigest", 1 << 20},
	reflect.TypeFor[FailureAssessment]():        {"FailureAssessment", 2 << 20},
	reflect.TypeFor[CoreAgentResult]():          {"CoreAgentResult", 4 << 20},
	reflect.TypeFor[CoreAgentDefinition]():      {"CoreAgentDefinition", 256 << 10},
	reflect.TypeFor[AssistancePolicy]():         {"AssistancePolicy", 64 << 10},
	reflect.TypeFor[MicroAgentContract]():       {"MicroAgentContract", 64 << 10},
	reflect.TypeFor[Taxonomy]():                 {"Taxonomy", 1 << 20},
	reflect.TypeFor[EvidenceItem]():             {"EvidenceItem", 16 << 20},
	reflect.TypeFor[Receipt]():                  {"Receipt", 1 << 20},
}

// compiled holds every schema by shape name. The files are embedded and a
// test compiles them, so that a fault here is a build fault.
var compiled = sync.OnceValue(func() map[string]*jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	entries, err := schemaFiles.ReadDir("schema")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		raw, err := schemaFiles.ReadFile(path.Join("schema", e.Name()))
		if err != nil {
			panic(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			panic(fmt.Sprintf("schema %s: %v", e.Name(), err))
		}
		if err := c.AddResource(schemaBase+e.Name(), doc); err != nil {
			panic(fmt.Sprintf("schema %s: %v", e.Name(), err))
		}
	}
	out := map[string]*jsonschema.Schema{}
	for _, w := range wire {
		out[w.name] = c.MustCompile(schemaBase + w.name + ".v1.json")
	}
	return out
})

// noLoader refuses every fetch: a schema outside the embedded ones is a fault.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("load schema %s: only embedded schemas exist", url)
}

// SchemaNames lists the shapes that have a schema, sorted.
func SchemaNames() []string {
	names := make([]string, 0, len(wire))
	for _, w := range wire {
		names = append(names, w.name)
	}
	slices.Sort(names)
	return names
}

// SchemaName is the versioned name under which requests and definitions name
// the shape T, such as "FailureAssessment.v1"; it is empty for another type.
func SchemaName[T any]() string {
	w, ok := wire[reflect.TypeFor[T]()]
	if !ok {
		return ""
	}
	return w.name + ".v1"
}

// rules holds the rule of every shape that has one by name.
var rules = sync.OnceValue(func() map[string]*rule {
	out := map[string]*rule{}
	for name, s := range compiled() {
		if r := ruleOf(s); r != nil {
			out[name] = r
		}
	}
	return out
})

// validate holds the document to the schema of a shape.
func (t *tape) validate(name string) error {
	sch, ok := compiled()[name]
	if !ok {
		return fmt.Errorf("no schema %q; known are %s", name, strings.Join(SchemaNames(), ", "))
	}
	if r := rules()[name]; r != nil && t.accepts(0, r) {
		return nil
	}
	if err := sch.Validate(t.tree(0)); err != nil {
		return fromSchema(name, err)
	}
	return nil
}
