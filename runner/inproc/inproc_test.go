package inproc_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
	"go.uber.org/goleak"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/inproc"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/route"
	"github.com/fabriccore/assay/specialists/route/ollamatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const development = "../../corpus/development-v0"

// head loads a corpus and keeps its first cases.
func head(t testing.TB, dir string, n int) *corpus.Corpus {
	t.Helper()
	c, err := corpus.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	c.Cases = c.Cases[:n]
	return c
}

func spec(combine map[string]float64) *route.Spec {
	s := route.Spec{Name: "pair", Combine: combine, Profiles: map[contract.Profile]route.ModelSpec{}}
	for p, m := range map[contract.Profile]string{contract.ProfileBalancedReason: "gen", contract.ProfileFastExtract: "gen", contract.ProfileRetrievalRank: "emb"} {
		s.Profiles[p] = route.ModelSpec{Model: m, Options: route.DefaultOptions(1)}
	}
	return &s
}

// words answers every schema with its first fit and a sentence for a cause.
func words(q api.ChatRequest) ollamatest.Reply {
	return ollamatest.Reply{Content: ollamatest.Fit(q, map[string]any{"cause": "a sentence that says what went wrong"})}
}

// stack is the stack under test on a fake server.
func stack(t testing.TB, c *corpus.Corpus) (*ollamatest.Server, *inproc.Stack) {
	t.Helper()
	s := ollamatest.New()
	s.Reply(words)
	cl, err := route.NewClient(s.URL, 1, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close(); s.Close() })
	st, err := inproc.New(inproc.Parts{Client: cl, Corpora: []*corpus.Corpus{c}, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return s, st
}

var arms = []benchmarks.Arm{
	{Name: "deterministic", Kind: benchmarks.ArmDeterministic},
	{Name: "bare:pair", Kind: benchmarks.ArmBare, Route: spec(nil)},
	{Name: "core:pair", Kind: benchmarks.ArmCore, Route: spec(nil)},
	{Name: "core:ranked", Kind: benchmarks.ArmCore, Route: spec(map[string]float64{"signature": 1, "retrieval": 0.7, "abstain": 0.5})},
	{Name: "control:guess", Kind: benchmarks.ArmControl, Guess: "code_defect"},
}

func target(t testing.TB, st *inproc.Stack, a benchmarks.Arm) runner.Target {
	t.Helper()
	tg, err := st.Target(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tg.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	return tg
}

// H-003, F-032, F-035, Q-43: every arm answers the head of the development
// corpus; what came through the door left a chain that verifies and no write,
// its sufficiency verdict came before any model call, a resolved case made
// none, and its times add up.
func TestArmsOverTheCorpus(t *testing.T) {
	c := head(t, development, 24)
	for _, a := range arms {
		t.Run(a.Name, func(t *testing.T) {
			s, st := stack(t, c)
			tg := target(t, st, a)
			seen := map[contract.SufficiencyVerdict]int{}
			for _, k := range c.Cases {
				before := s.Asked()
				tr := ask(t, tg, k)
				asked := s.Asked() - before
				if tr.Kind != journal.Answered && tr.Kind != journal.Abstained {
					t.Fatalf("%s: %s %s %s", k.ID, tr.Kind, tr.Reason, tr.Error)
				}
				if (tr.Kind == journal.Abstained) != (tr.Class == contract.InsufficientEvidence) || !c.Taxonomy.Has(tr.Class) || len(tr.Ranked) == 0 || tr.Ranked[0] != tr.Class {
					t.Errorf("%s: %s with class %q, ranked %v", k.ID, tr.Kind, tr.Class, tr.Ranked)
				}
				if asked != len(tr.Calls) {
					t.Errorf("%s: %d calls recorded, %d made", k.ID, len(tr.Calls), asked)
				}
				switch a.Kind {
				case benchmarks.ArmDeterministic:
					if asked != 0 {
						t.Errorf("%s: the model-free arm asked a model", k.ID)
					}
				case benchmarks.ArmBare:
					if asked != 1 {
						t.Errorf("%s: %d calls", k.ID, asked)
					}
				default:
					governed(t, k.ID, tr, asked)
					seen[tr.Sufficiency]++
				}
			}
			if (a.Kind == benchmarks.ArmCore || a.Kind == benchmarks.ArmControl) && len(seen) < 2 {
				t.Errorf("the head shows one verdict only: %v", seen)
			}
		})
	}
}

// ask puts a case and checks what holds of every answer.
func ask(t testing.TB, tg runner.Target, k corpus.Case) journal.Trial {
	t.Helper()
	a := tg.Ask(t.Context(), k, 0)
	tr := a.Trial
	if tr.Timing.Total != tr.Timing.Model+tr.Timing.Overhead || tr.Timing.Overhead < 0 {
		t.Errorf("%s: total %v is not model %v + overhead %v (Q-43)", k.ID, tr.Timing.Total, tr.Timing.Model, tr.Timing.Overhead)
	}
	ids := map[string]bool{}
	for _, e := range k.Evidence {
		ids[e.ID] = true
	}
	for i, e := range tr.Evidence {
		if !ids[e] || slices.Contains(tr.Evidence[:i], e) {
			t.Errorf("%s: evidence %v", k.ID, tr.Evidence)
		}
	}
	return tr
}

// governed checks what the door left behind.
func governed(t testing.TB, id string, tr journal.Trial, asked int) {
	t.Helper()
	if err := contract.VerifyChain(tr.Receipts); err != nil {
		t.Errorf("%s: %v", id, err)
	}
	if tr.Safety == nil || *tr.Safety != (contract.SafetyCounters{}) {
		t.Errorf("%s: safety %+v", id, tr.Safety)
	}
	if tr.Sufficiency == contract.SufficiencyResolved && asked != 0 {
		t.Errorf("%s: a resolved case asked a model %d times", id, asked)
	}
	verdict, call := -1, -1
	for i, e := range tr.Trace {
		switch {
		case e.Step == contract.StepSufficiency && verdict < 0:
			verdict = i
		case e.Step == contract.StepModelCall && call < 0:
			call = i
		}
	}
	if verdict < 0 || call >= 0 && call < verdict || (call >= 0) != (asked > 0) {
		t.Errorf("%s: verdict at step %d, first call at %d, %d calls", id, verdict, call, asked)
	}
	gen := 0
	for _, c := range tr.Calls {
		if c.Kind == contract.CallGenerate {
			gen++
		}
	}
	if gen > 1 {
		t.Errorf("%s: %d generative calls (Q-39)", id, gen)
	}
}

// H-001: labels reach no prompt: with the labels permuted, every body that the
// server sees is the same byte for byte.
func TestPermutedLabelsLeavePrompts(t *testing.T) {
	bodies := func(dir string) (out []string) {
		c := head(t, dir, 12)
		s, st := stack(t, c)
		for _, a := range arms {
			tg := target(t, st, a)
			for _, k := range c.Cases {
				ask(t, tg, k)
			}
		}
		for _, r := range s.Requests("") {
			out = append(out, r.Path+" "+string(r.Body))
		}
		return out
	}
	dir := t.TempDir()
	files, err := filepath.Glob(development + "/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(f) == "labels.jsonl" {
			raw = permuted(t, raw)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, after := bodies(development), bodies(dir)
	if !slices.Equal(before, after) {
		t.Errorf("%d and %d bodies differ", len(before), len(after))
	}
	if len(before) < 24 {
		t.Errorf("only %d bodies", len(before))
	}
}

// permuted gives every case the label of the one after it.
func permuted(t *testing.T, raw []byte) []byte {
	t.Helper()
	var labels []map[string]any
	for d := json.NewDecoder(bytes.NewReader(raw)); d.More(); {
		var l map[string]any
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		labels = append(labels, l)
	}
	first := labels[0]["case"]
	var out bytes.Buffer
	for i, l := range labels {
		l["case"] = first
		if i+1 < len(labels) {
			l["case"] = labels[i+1]["case"]
		}
		line, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes()
}

// H-004: the fingerprint reads what runs, and shows a model that was changed
// under its tag.
func TestH004_Fingerprint(t *testing.T) {
	c := head(t, development, 1)
	s, st := stack(t, c)
	for _, a := range arms {
		tg := target(t, st, a)
		before, err := tg.Fingerprint(t.Context())
		if err != nil || before.Arm != a.Name || (len(before.Profiles) == 0) != (a.Route == nil) {
			t.Fatalf("%s: %+v %v", a.Name, before, err)
		}
		if a.Route == nil {
			continue
		}
		s.SetDigest("gen:latest", strings.Repeat("d", 64))
		after, err := tg.Fingerprint(t.Context())
		if err != nil || fmt.Sprint(before) == fmt.Sprint(after) || before.ServerVersion != "0.17.4" {
			t.Errorf("%s: a changed digest is not seen: %v", a.Name, err)
		}
		for _, p := range after.Profiles {
			if want := 4096; p.Profile != contract.ProfileRetrievalRank && p.NumCtx != want || p.Options["num_predict"] == nil {
				t.Errorf("%s: %+v", a.Name, p)
			}
		}
		s.SetDigest("gen:latest", strings.Repeat("a", 64))
	}
}

// The warm-up's calls are recorded apart and calibrate once.
func TestQ39_Warm(t *testing.T) {
	c := head(t, development, 1)
	for _, a := range arms {
		s, st := stack(t, c)
		tg, err := st.Target(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := tg.Warm(t.Context())
		if err != nil || len(calls) != s.Asked() || (len(calls) == 0) != (a.Route == nil) {
			t.Errorf("%s: %d calls recorded, %d made, %v", a.Name, len(calls), s.Asked(), err)
		}
		s.Inject(ollamatest.Chat, ollamatest.TooLong, -1)
		if _, err := tg.Warm(t.Context()); (err != nil) != (a.Route != nil) {
			t.Errorf("%s: a failing warm-up gave %v", a.Name, err)
		}
	}
}

// Targets that can't be made say why.
func TestTargetErrors(t *testing.T) {
	c := head(t, development, 1)
	_, st := stack(t, c)
	ranker := spec(nil)
	delete(ranker.Profiles, contract.ProfileBalancedReason)
	delete(ranker.Profiles, contract.ProfileFastExtract)
	absent := spec(nil)
	absent.Profiles[contract.ProfileBalancedReason] = route.ModelSpec{Model: "absent", Options: route.DefaultOptions(1)}
	for _, tc := range []struct {
		arm  benchmarks.Arm
		want error
	}{
		{benchmarks.Arm{Name: "bare:r", Kind: benchmarks.ArmBare, Route: ranker}, route.ErrNoProfile},
		{benchmarks.Arm{Name: "core:a", Kind: benchmarks.ArmCore, Route: absent}, route.ErrInfra},
		{benchmarks.Arm{Name: "core:n", Kind: benchmarks.ArmCore}, route.ErrInfra},
		{benchmarks.Arm{Name: "x", Kind: "x"}, nil},
		{benchmarks.Arm{Name: "core:c", Kind: benchmarks.ArmCore, Route: spec(map[string]float64{"confidence": 1})}, nil},
	} {
		if _, err := st.Target(t.Context(), tc.arm); err == nil || tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.arm.Name) {
			t.Errorf("%s: %v", tc.arm.Name, err)
		}
	}
	if _, err := st.ModelDigest(t.Context(), route.ModelSpec{Model: "absent"}); !errors.Is(err, route.ErrInfra) {
		t.Errorf("got %v", err)
	}
	if d, err := st.ModelDigest(t.Context(), route.ModelSpec{Model: "gen"}); err != nil || len(d) != 64 {
		t.Errorf("%q %v", d, err)
	}
	other := *c
	other.TaxonomyDigest = "sha256:other"
	if _, err := inproc.New(inproc.Parts{Corpora: []*corpus.Corpus{c, &other}, Now: time.Now}); err == nil {
		t.Error("one case id under two taxonomies was accepted")
	}
}
