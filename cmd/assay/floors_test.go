package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/fabriccore/assay"

// floor gives every folder its height in the house; the longest prefix counts.
// Code imports its own floor, lower floors and leaves, never up.
var floor = []struct {
	prefix string
	height int
}{
	{"specialists/contract", 0}, {"scorers/stats", 0}, {"runner/journal", 0}, {"runner/progress", 0},
	{"specialists", 1},
	{"corpus", 2},
	{"benchmarks", 3},
	{"runner", 4},
	{"scorers", 5},
	{"reports", 6},
	{"cmd", 7},
}

type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports,Deps", module+"/...")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all []listed
	d := json.NewDecoder(out)
	for {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.ImportPath, "/zz_") {
			all = append(all, p)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(all) < 15 {
		t.Fatalf("only %d packages listed: the walk saw nothing", len(all))
	}
	return all
}

func height(pkg string) (int, bool) {
	rel := strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
	best, h := -1, 0
	for _, f := range floor {
		if (rel == f.prefix || strings.HasPrefix(rel, f.prefix+"/")) && len(f.prefix) > best {
			best, h = len(f.prefix), f.height
		}
	}
	return h, best >= 0
}

func rel(pkg string) string { return strings.TrimPrefix(pkg, module+"/") }

// TestFloors_F030_F031 walks the import graph: no arrow goes up, leaves import
// only leaves, and every package stands on a floor.
func TestFloors_F030_F031(t *testing.T) {
	for _, p := range listPackages(t) {
		from, ok := height(p.ImportPath)
		if !ok {
			t.Errorf("%s stands on no floor", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			if !strings.HasPrefix(i, module) {
				continue
			}
			if to, _ := height(i); to > from {
				t.Errorf("%s (floor %d) imports %s (floor %d): arrows never go up", rel(p.ImportPath), from, rel(i), to)
			}
		}
	}
}

// within reports whether pkg is one of the folders or stands below one.
func within(pkg string, folders ...string) bool {
	r := rel(pkg)
	return slices.ContainsFunc(folders, func(f string) bool { return r == f || strings.HasPrefix(r, f+"/") })
}

// TestDoors_F031_F032_H001: labels never reach what builds prompts, the
// orchestrator is reached through the gateway alone, a specialist through the
// orchestrator alone, and a specialist imports nothing it could write,
// delegate or look labels up with.
func TestDoors_F031_F032_H001(t *testing.T) {
	pkgs := listPackages(t)
	deps := map[string][]string{}
	for _, p := range pkgs {
		deps[p.ImportPath] = p.Deps
	}
	saw := 0
	folders := specialistFolders(t)
	for _, p := range pkgs {
		if within(p.ImportPath, "specialists", "runner", "benchmarks") {
			for _, d := range p.Deps {
				if within(d, "corpus/label") {
					t.Errorf("%s reaches %s: it could know an answer", rel(p.ImportPath), rel(d))
				}
			}
		}
		for _, i := range p.Imports {
			switch {
			case within(i, "specialists/orchestrator") && !within(p.ImportPath, "specialists/orchestrator", "specialists/gateway") && rel(p.ImportPath) != "specialists":
				t.Errorf("%s imports the orchestrator past the gateway", rel(p.ImportPath))
			case within(i, folders...) && !within(p.ImportPath, append(slices.Clone(folders), "specialists/orchestrator")...) && rel(p.ImportPath) != "specialists":
				t.Errorf("%s imports the specialist %s past the orchestrator", rel(p.ImportPath), rel(i))
			case within(i, "specialists/gateway") && rel(p.ImportPath) != "specialists" && !within(p.ImportPath, "specialists/gateway"):
				t.Errorf("%s imports the gateway past the assembler", rel(p.ImportPath))
			}
		}
		if !within(p.ImportPath, folders...) {
			continue
		}
		saw++
		for _, i := range p.Imports {
			if strings.HasPrefix(i, module) && !within(i, append(slices.Clone(folders), "specialists/contract")...) {
				t.Errorf("specialist %s imports %s: it may know the contract and nothing else", rel(p.ImportPath), rel(i))
			}
			if writeCapable.MatchString(i) {
				t.Errorf("specialist %s imports %s: it holds no handle it could write with", rel(p.ImportPath), i)
			}
		}
	}
	if saw == 0 {
		t.Fatal("no specialist package seen")
	}
}

// specialistFolders are the folders below specialists/ that are no part of the
// stack around them: each is a specialist, new ones too.
func specialistFolders(t *testing.T) []string {
	t.Helper()
	around := []string{"contract", "controlplane", "gateway", "orchestrator", "phase0", "registry", "route"}
	entries, err := os.ReadDir("../../specialists")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(around, e.Name()) {
			out = append(out, "specialists/"+e.Name())
		}
	}
	return out
}

var writeCapable = regexp.MustCompile(`^(os|os/.*|net|net/.*|syscall|unsafe|plugin|io/ioutil|database/.*|log/syslog|golang\.org/x/sys.*|github\.com/(ollama|spf13|gofrs|google/renameio).*)$`)

// TestAllowlist fails on a third-party package that testdata/allowlist.txt
// does not name, and on a name there that nothing imports.
func TestAllowlist(t *testing.T) {
	f, err := os.Open("testdata/allowlist.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	allowed := map[string]bool{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		name, why, _ := strings.Cut(strings.TrimSpace(s.Text()), " ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if strings.TrimSpace(why) == "" {
			t.Errorf("%s stands on the allowlist without a reason", name)
		}
		allowed[name] = false
	}
	for _, p := range listPackages(t) {
		for _, i := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if strings.HasPrefix(i, module) || !strings.Contains(strings.Split(i, "/")[0], ".") {
				continue
			}
			found := false
			for a := range allowed {
				if i == a || strings.HasPrefix(i, a+"/") {
					allowed[a], found = true, true
				}
			}
			if !found {
				t.Errorf("%s imports %s, which is not on the allowlist (%s)", rel(p.ImportPath), i, path.Join("testdata", "allowlist.txt"))
			}
		}
	}
	for a, used := range allowed {
		if !used {
			t.Errorf("%s stands on the allowlist but nothing imports it", a)
		}
	}
}
