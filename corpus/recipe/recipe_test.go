package recipe

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
)

const goodSpec = `toolchain: shell
needs: [bash, tar]
class: data_invalid
difficulty: easy
cause: the archive was cut off
evidence: [02-stage_output.log]
family: cut-archive
`

const goodRun = `. "$LIB"
seq 20000 | gzip >a.gz; head -c 2000 a.gz >b.gz
stage load gzip -dt b.gz
show 03-environment.txt hostname
show 03-environment.txt pwd
`

// folder makes a corpus folder with one recipe.
func folder(t *testing.T, spec, run string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	put(t, filepath.Join(dir, "recipes", "cut-one-off", "recipe.yaml"), spec)
	put(t, filepath.Join(dir, "recipes", "cut-one-off", "run.sh"), run)
	return dir
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func opts() Options {
	return Options{Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}
}

// recordOrSkip records, or skips the test where recipes can't be isolated.
func recordOrSkip(t *testing.T, dir string, o Options) ([]Result, error) {
	t.Helper()
	rs, err := Record(context.Background(), dir, o)
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	return rs, err
}

// a recorded case is labeled by its recipe, freezes, and the recipe holds
// when it is run again; nothing of the builder shows in the evidence.
func TestQ25RecordFreezeCheck(t *testing.T) {
	dir := folder(t, goodSpec, goodRun)
	rs, err := recordOrSkip(t, dir, opts())
	if err != nil || len(rs) != 1 || rs[0].Status != Recorded {
		t.Fatalf("Record = %+v, %v", rs, err)
	}
	c, err := corpus.Freeze(dir, corpus.FreezeOptions{Check: label.Check})
	if err != nil {
		t.Fatal(err)
	}
	labels, err := label.Load("", c)
	if err != nil {
		t.Fatal(err)
	}
	k := c.Cases[0]
	l := labels[k.ID]
	if l.Source != label.SourceConstructed || l.Recipe != "recipes/cut-one-off" || l.Date != "2026-01-02" || len(l.Evidence) != 1 || l.Evidence[0] != "e2" {
		t.Errorf("label %+v", l)
	}
	if got, want := k.Evidence[2].Text, "$ hostname\nbuild-host\n$ pwd\n/workspace\n"; got != want {
		t.Errorf("environment %q, want %q", got, want)
	}
	if !strings.HasPrefix(k.Evidence[1].Text, "\ngzip: b.gz: unexpected end of file") {
		t.Errorf("output %q", k.Evidence[1].Text)
	}
	for _, text := range []string{k.ID, k.Family, k.World.Workspace, k.World.Run, k.World.Branch} {
		if strings.Contains(text, "cut") {
			t.Errorf("%q is not opaque", text)
		}
	}
	if rs, err := Check(context.Background(), dir, opts()); err != nil || rs[0].Status != Held {
		t.Errorf("Check = %+v, %v", rs, err)
	}
	if _, err := Record(context.Background(), dir, opts()); !errors.Is(err, corpus.ErrChanged) {
		t.Errorf("recording into a frozen corpus: %v, want ErrChanged", err)
	}
}

// A recipe whose output changed is told from one that holds.
func TestCheckFindsMoved(t *testing.T) {
	dir := folder(t, goodSpec, goodRun)
	if _, err := recordOrSkip(t, dir, opts()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "recipes", "cut-one-off", "run.sh")
	c, err := corpus.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	old := map[string]label.Label{c.Cases[0].ID: {Class: "data_invalid"}}
	isolation, err := isolate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	specs, err := List(os.DirFS(dir), dir)
	if err != nil {
		t.Fatal(err)
	}
	for run, want := range map[string]string{
		". \"$LIB\"\nstage load tar xf nothing-of-that-sort.tar\nshow 03-environment.txt hostname\n":                        "alike",
		strings.ReplaceAll(goodRun, "03-environment", "03-config"):                                                          "is now config",
		". \"$LIB\"\nstage load bash -c 'kill -9 $$'; echo x >$OUT/02-stage_output.log; show 03-environment.txt hostname\n": "alike",
	} {
		put(t, name, run)
		res := checkOne(context.Background(), isolation, c, old, run1(specs[0]))
		if res.Status != Moved || !strings.Contains(res.Detail, want) {
			t.Errorf("%q: %+v, want %q", run, res, want)
		}
	}
}

func run1(s Spec) run { return s.runs()[0] }

// Runs that break the protocol are refused with what to do, and leave no case.
func TestRecordRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ spec, run, want string }{
		"stage succeeds":        {goodSpec, ". \"$LIB\"\nstage load true\necho x >$OUT/02-stage_output.log", "did not bite"},
		"no stage record":       {goodSpec, ". \"$LIB\"\necho x >$OUT/02-stage_output.log; echo y >$OUT/03-data.txt", "01-stage_record.json"},
		"bad stage name":        {goodSpec, ". \"$LIB\"\nstage explode false", "bad name"},
		"bad file name":         {goodSpec, ". \"$LIB\"\nstage load tar x; echo x >$OUT/answer.txt", "NN-<source>"},
		"evidence missing":      {goodSpec, ". \"$LIB\"\nstage load false; show 03-environment.txt hostname", "left no such file"},
		"too few":               {strings.Replace(goodSpec, "02-stage_output.log", "01-stage_record.json", 1), ". \"$LIB\"\nstage load false", "leave 2 to 6"},
		"run.sh fails":          {goodSpec, ". \"$LIB\"\necho broken set-up >&2; exit 3", "broken set-up"},
		"too long":              {goodSpec, ". \"$LIB\"\nstage load bash -c 'seq 9999; false'", "more than"},
		"class id in text":      {goodSpec, ". \"$LIB\"\nstage load bash -c 'echo data_invalid; false'; show 03-environment.txt hostname", "class id"},
		"recipe name":           {goodSpec, ". \"$LIB\"\nstage load bash -c 'echo $RECIPE; false'; show 03-environment.txt hostname", "names the recipe"},
		"secret":                {goodSpec, ". \"$LIB\"\nstage load bash -c 'echo \"-----BEGIN\" \"RSA PRIVATE KEY-----\"; false'; show 03-environment.txt hostname", "secret"},
		"class not in taxonomy": {strings.Replace(goodSpec, "data_invalid", "gremlins", 1), goodRun, "not in the taxonomy"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, tc.spec, tc.run)
			rs, err := recordOrSkip(t, dir, opts())
			said := ""
			if err != nil {
				said = err.Error()
			}
			for _, r := range rs {
				said += " " + r.Detail
			}
			if err == nil || !strings.Contains(said, tc.want) {
				t.Errorf("said %q, want %q", said, tc.want)
			}
		})
	}
}

// A recipe has no network but loopback, and its tools end with it.
func TestRecordIsolates(t *testing.T) {
	if lacks := missing([]string{"python3", "curl", "ps"}); len(lacks) > 0 {
		t.Skip("missing: ", lacks)
	}
	dir := folder(t, goodSpec, `. "$LIB"
p=$(free_port)
python3 -m http.server --bind 127.0.0.1 $p >web.log 2>&1 &
wait_for curl -s http://127.0.0.1:$p/
stage load bash -c 'ip -br link; ip route; ps -e | wc -l >n; false'
show 03-environment.txt bash -c 'ip -br link | wc -l'
`)
	if _, err := recordOrSkip(t, dir, opts()); err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Cases[0].Evidence[1].Text; strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "lo ") {
		t.Errorf("interfaces and routes %q, want lo alone", got)
	}
}

// Missing tools skip a recipe and keep the case it had.
func TestRecordSkipsAndKeeps(t *testing.T) {
	dir := folder(t, goodSpec, goodRun)
	if _, err := recordOrSkip(t, dir, opts()); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "recipes", "other", "recipe.yaml"), strings.Replace(goodSpec, "[bash, tar]", "[no-such-tool-here]", 1))
	put(t, filepath.Join(dir, "recipes", "other", "run.sh"), goodRun)
	rs, err := Record(context.Background(), dir, Options{Only: []string{"other"}, Now: opts().Now})
	if err != nil || len(rs) != 1 || rs[0].Status != Skipped || !strings.Contains(rs[0].Detail, "no-such-tool-here") {
		t.Fatalf("Record = %+v, %v", rs, err)
	}
	c, err := corpus.Load(dir)
	if err != nil || len(c.Cases) != 1 {
		t.Fatalf("%d cases, %v; want the one that was", len(c.Cases), err)
	}
}

// Variants make a case each, in one family.
func TestVariantsShareFamily(t *testing.T) {
	dir := folder(t, goodSpec+"variants: [short, long]\n", strings.Replace(goodRun, "2000", "$([ $VARIANT = short ] && echo 900 || echo 4000)", 1))
	if _, err := recordOrSkip(t, dir, opts()); err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Load(dir)
	if err != nil || len(c.Cases) != 2 || len(c.Families()) != 1 {
		t.Fatalf("%v, families %v; want two cases of one family", err, c.Families())
	}
	if err := label.Check(c); err != nil {
		t.Error(err)
	}
}

// recipe.yaml faults name the file and what to do.
func TestSpecFaults(t *testing.T) {
	for _, tc := range []struct{ old, new, want string }{
		{"toolchain: shell", "tool_chain: shell", `recipe.yaml:1:1: unknown key "tool_chain"; did you mean "toolchain"?`},
		{"difficulty: easy", "difficulty: medium", "easy or hard"},
		{"family: cut-archive", "family: Cut Archive", "family"},
		{"[02-stage_output.log]", "[]", "evidence is empty"},
		{"[02-stage_output.log]", "[02-answer.log]", "NN-<source>"},
		{"cause: the archive was cut off\n", "", "cause is empty"},
		{"family: cut-archive", "family: cut-archive\nvariants: [a, a]", "twice"},
	} {
		dir := folder(t, strings.Replace(goodSpec, tc.old, tc.new, 1), goodRun)
		if _, err := List(os.DirFS(dir), dir); !errors.Is(err, corpus.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.new, err, tc.want)
		}
	}
}

// Counting labels leaves the rest of corpus.yaml as it is.
func TestSetCounts(t *testing.T) {
	for in, want := range map[string]string{
		"name: a\n": "name: a\nlabel_sources:\n  constructed: 2\n",
		"name: a\nlabel_sources:\n  human: 1\n  constructed: 9\n# kept\nsynthetic: true": "name: a\nlabel_sources:\n  constructed: 2\n# kept\nsynthetic: true\n",
		"label_sources: {}\nname: a\n": "label_sources:\n  constructed: 2\nname: a\n",
	} {
		name := filepath.Join(t.TempDir(), "corpus.yaml")
		put(t, name, in)
		if err := setCounts(name, map[string]int{"constructed": 2}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%q became %q, %v; want %q", in, got, err, want)
		}
	}
}
