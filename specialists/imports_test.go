package specialists_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/fabriccore/assay/"

// imports maps every package folder below specialists, "" for the root, to
// what its non-test files import.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := strings.TrimPrefix(path.Dir(name), ".")
		for _, s := range f.Imports {
			p, err := strconv.Unquote(s.Path.Value)
			if err != nil {
				return err
			}
			out[dir] = append(out[dir], p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shared are the packages below specialists that are no specialist.
func shared(dir string) bool {
	first, _, _ := strings.Cut(dir, "/")
	switch first {
	case "", "contract", "gateway", "orchestrator", "registry", "route", "controlplane":
		return true
	}
	return false
}

func TestF031_ImportsOfTheOneDoor(t *testing.T) {
	const own = module + "specialists/"
	for dir, list := range imports(t) {
		for _, imp := range list {
			rel, inside := strings.CutPrefix(imp, own)
			if imp == module+"specialists" {
				t.Errorf("%s imports the assembler", dir)
			}
			if !inside {
				continue
			}
			if !shared(rel) && dir != "" && dir != "orchestrator" && !strings.HasPrefix(dir, rel) && !strings.HasPrefix(rel, dir+"/") {
				t.Errorf("%s imports the specialist package %s; only the orchestrator and the assembler may", dir, rel)
			}
			if rel == "orchestrator" && dir != "" && dir != "gateway" {
				t.Errorf("%s imports the orchestrator; only the gateway and the assembler may", dir)
			}
			if rel == "gateway" && dir != "" {
				t.Errorf("%s imports the gateway; only the assembler may", dir)
			}
			if !shared(dir) && (rel == "registry" || strings.HasPrefix(rel, "controlplane")) {
				t.Errorf("the specialist package %s imports %s", dir, rel)
			}
		}
	}
}

// Nothing in the stack can learn a label, start a process or write a file;
// only the route reaches the network (F-032).
func TestF032_NoWriteCapableImports(t *testing.T) {
	forbidden := map[string]string{
		"os/exec": "starts processes", "os": "writes files", "io/ioutil": "writes files", "syscall": "does anything", "plugin": "loads code",
		"unsafe": "does anything", "net": "reaches the network", "net/http": "reaches the network", "net/rpc": "reaches the network",
		"database/sql": "writes data", "path/filepath": "walks the disk", "os/user": "reads accounts", "embed": "reads files",
	}
	allowed := map[string]bool{
		"contract embed": true, "registry embed": true, // data that ships with the module
		"route net/http": true, "route net": true, // the Ollama client
		"route/ollamatest net/http": true, "route/ollamatest net": true, // a fake server that only tests import, see below
	}
	for dir, list := range imports(t) {
		for _, imp := range list {
			why, bad := forbidden[imp]
			if bad && !allowed[dir+" "+imp] && !(imp == "embed" && !shared(dir)) && !(imp == "embed" && strings.HasPrefix(dir, "controlplane/")) {
				t.Errorf("%s imports %s, which %s", dir, imp, why)
			}
			if imp == module+"specialists/route/ollamatest" {
				t.Errorf("%s imports the fake server; only tests may", dir)
			}
			for _, above := range []string{"corpus", "runner", "benchmarks", "scorers", "reports", "cmd"} {
				if rel, ok := strings.CutPrefix(imp, module); ok && (rel == above || strings.HasPrefix(rel, above+"/")) {
					t.Errorf("%s imports %s, which is above the stack", dir, rel)
				}
			}
		}
	}
}

// Every stand-in names the module that it stands for (F-005).
func TestF005_StandInsNameTheirModule(t *testing.T) {
	dirs, err := os.ReadDir("controlplane")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		doc := ""
		files, _ := os.ReadDir(path.Join("controlplane", d.Name()))
		for _, f := range files {
			if path.Ext(f.Name()) != ".go" || strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			src, err := parser.ParseFile(token.NewFileSet(), path.Join("controlplane", d.Name(), f.Name()), nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			doc += src.Doc.Text()
		}
		flat := strings.Join(strings.Fields(doc), " ")
		if !strings.Contains(flat, "tands in for ") || !strings.Contains(flat, "efuses") {
			t.Errorf("controlplane/%s: the package comment does not say which module it stands in for and what it refuses", d.Name())
		}
	}
}
