package runner

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fabriccore/assay/runner/journal"
)

// edited is a complete run whose files can be changed.
type edited struct {
	cfg Config
	dir string
}

func newEdited(t *testing.T) edited {
	t.Helper()
	f := &Fake{}
	cfg := testConfig(t, testPlan(t, 4, 2, 1), f, f)
	sum, err := Execute(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return edited{cfg, sum.Dir}
}

// verify reads the run to its end.
func (e edited) verify(t *testing.T) error {
	t.Helper()
	m, err := ReadManifest(e.dir)
	if err != nil {
		return err
	}
	ms, err := m.Verify(e.dir, e.cfg.Plan.Corpora)
	if err != nil {
		return err
	}
	for _, err := range ms {
		if err != nil {
			return err
		}
	}
	return nil
}

// lines rewrites the journal, plain, message by message. With seal the end's
// hash is made to fit again, as a careful forger would.
func (e edited) lines(t *testing.T, seal bool, change func([]journal.Message) []journal.Message) {
	t.Helper()
	ms := change(lines(t, e.dir))
	path := filepath.Join(e.dir, journal.Name)
	if err := os.Remove(filepath.Join(e.dir, journal.PackedName)); err != nil {
		t.Fatal(err)
	}
	w, err := journal.Open(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		if m.End != nil && seal {
			m.End.LinesSHA256 = w.LinesSHA256()
		}
		if err := w.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func (e edited) manifest(t *testing.T, from, to string) {
	t.Helper()
	path := filepath.Join(e.dir, ManifestName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(data, []byte(from), []byte(to), 1)
	if bytes.Equal(changed, data) {
		t.Fatalf("no %s in %s", from, data)
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
}

// trials changes the trial messages.
func trials(change func(i int, tr *journal.Trial)) func([]journal.Message) []journal.Message {
	return func(ms []journal.Message) []journal.Message {
		i := 0
		for _, m := range ms {
			if m.Trial != nil {
				change(i, m.Trial)
				i++
			}
		}
		return ms
	}
}

func without(field string, n int) func([]journal.Message) []journal.Message {
	return func(ms []journal.Message) []journal.Message {
		var out []journal.Message
		for _, m := range ms {
			if m.Field() == field {
				if n--; n >= 0 {
					continue
				}
			}
			out = append(out, m)
		}
		return out
	}
}

// H-014, F-153, F-156: a run that is not the evidence that was written is
// refused, with the place; an untouched one is read to its end.
func TestH014EditedRun(t *testing.T) {
	if err := newEdited(t).verify(t); err != nil {
		t.Fatal(err)
	}
	first := func(change func(*journal.Trial)) func([]journal.Message) []journal.Message {
		return trials(func(i int, tr *journal.Trial) {
			if i == 0 {
				change(tr)
			}
		})
	}
	for name, tc := range map[string]struct {
		edit func(*testing.T, edited)
		want string
	}{
		// Edits of lines that leave the end as it was.
		"class": {func(t *testing.T, e edited) { e.lines(t, false, first(func(x *journal.Trial) { x.Class = "b" })) }, "the lines before it"},
		"time":  {func(t *testing.T, e edited) { e.lines(t, false, first(func(x *journal.Trial) { x.Timing.Total = 1 })) }, "the lines before it"},
		"sufficiency": {func(t *testing.T, e edited) {
			e.lines(t, false, first(func(x *journal.Trial) { x.Sufficiency = "resolved" }))
		}, "the lines before it"},
		"no trial":       {func(t *testing.T, e edited) { e.lines(t, false, without("trial", 1)) }, "the lines before it"},
		"no later route": {func(t *testing.T, e edited) { e.lines(t, false, without("route", 9)) }, "the lines before it"},
		"a line taken along": {func(t *testing.T, e edited) {
			e.lines(t, false, func(ms []journal.Message) []journal.Message { return append(ms, ms[5]) })
		}, "after the end"},
		// Edits with an end that fits again.
		"another case": {func(t *testing.T, e edited) { e.lines(t, true, first(func(x *journal.Trial) { x.Case = "c0009" })) }, "the plan says"},
		"family":       {func(t *testing.T, e edited) { e.lines(t, true, first(func(x *journal.Trial) { x.Family = "x" })) }, "the plan says"},
		"repeat":       {func(t *testing.T, e edited) { e.lines(t, true, first(func(x *journal.Trial) { x.Repeat = 7 })) }, "the plan says"},
		"place":        {func(t *testing.T, e edited) { e.lines(t, true, first(func(x *journal.Trial) { x.Ordinal = 900 })) }, "not in the plan"},
		"kind":         {func(t *testing.T, e edited) { e.lines(t, true, first(func(x *journal.Trial) { x.Kind = "right" })) }, "no known kind"},
		"backwards":    {func(t *testing.T, e edited) { e.lines(t, true, first(func(x *journal.Trial) { x.Timing.Total = -1 })) }, "negative time"},
		"arms swapped": {func(t *testing.T, e edited) {
			e.lines(t, true, trials(func(_ int, x *journal.Trial) { x.Arm = map[string]string{"A": "B", "B": "A"}[x.Arm] }))
		}, "the plan says"},
		"twice": {func(t *testing.T, e edited) {
			e.lines(t, true, func(ms []journal.Message) []journal.Message {
				return append(append([]journal.Message{}, ms[:6]...), ms[5:]...)
			})
		}, "stands twice"},
		"fewer planned": {func(t *testing.T, e edited) {
			e.lines(t, true, func(ms []journal.Message) []journal.Message { ms[0].Run.Planned--; return ms })
		}, "plans 16 trials, the journal 15"},
		"the journal of another run": {func(t *testing.T, e edited) {
			o := newEdited(t)
			for _, n := range []string{journal.PackedName, journal.PackName, journal.IndexName} {
				data, err := os.ReadFile(filepath.Join(o.dir, n))
				if err == nil {
					err = os.WriteFile(filepath.Join(e.dir, n), data, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}, "the journal of run"},
		// The manifest.
		"another candidate": {func(t *testing.T, e edited) { e.manifest(t, `"candidate": "A"`, `"candidate": "B"`) }, "not the one that the run was started with"},
		"fewer repeats":     {func(t *testing.T, e edited) { e.manifest(t, `"repeats": 2`, `"repeats": 1`) }, "give plan"},
		"plan":              {func(t *testing.T, e edited) { e.manifest(t, e.cfg.Plan.Digest, "sha256:0") }, "give plan"},
		"cut manifest":      {func(t *testing.T, e edited) { e.manifest(t, `"arms": [`, `"arms": [[`) }, "manifest.json"},
		// The transcripts.
		"no transcripts": {func(t *testing.T, e edited) {
			if err := os.Remove(filepath.Join(e.dir, journal.PackName)); err != nil {
				t.Fatal(err)
			}
		}, "are gone"},
		"emptied transcripts": {func(t *testing.T, e edited) {
			if err := os.Truncate(filepath.Join(e.dir, journal.PackName), 0); err != nil {
				t.Fatal(err)
			}
		}, "is gone"},
		"another transcript": {func(t *testing.T, e edited) {
			old := lines(t, e.dir)[5].Trial.Key
			for _, n := range []string{journal.PackName, journal.IndexName} {
				if err := os.Remove(filepath.Join(e.dir, n)); err != nil {
					t.Fatal(err)
				}
			}
			p, err := journal.OpenPack(e.dir, nil)
			if err == nil {
				_, err = p.Add(journal.Transcript{Key: old, Response: journal.Raw("another answer")})
			}
			if err == nil {
				err = p.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "is not the one that was written"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdited(t)
			tc.edit(t, e)
			err := e.verify(t)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want …%s", err, tc.want)
			}
			if !errors.Is(err, journal.ErrCorrupt) && !errors.Is(err, ErrMismatch) {
				t.Errorf("%v is neither damage nor a mismatch", err)
			}
		})
	}
}

// A lost index is no lost evidence.
func TestLostIndex(t *testing.T) {
	e := newEdited(t)
	if err := os.Remove(filepath.Join(e.dir, journal.IndexName)); err != nil {
		t.Fatal(err)
	}
	if err := e.verify(t); err != nil {
		t.Error(err)
	}
}

// H-014: a run that was stopped and went on has one hash over all of its lines.
func TestVerifyResumed(t *testing.T) {
	cfg := testConfig(t, testPlan(t, 4, 1, 1), &Fake{}, &Fake{})
	dir := stoppedRun(t, cfg, 3)
	cfg.Targets = map[string]Target{"A": &Fake{}, "B": &Fake{}}
	if _, err := Resume(context.Background(), dir, cfg); err != nil {
		t.Fatal(err)
	}
	if err := (edited{cfg, dir}).verify(t); err != nil {
		t.Error(err)
	}
}

// H-014: lines edited while a run was stopped are noticed on resume.
func TestH014EditedBeforeResume(t *testing.T) {
	cfg := testConfig(t, testPlan(t, 4, 1, 1), &Fake{}, &Fake{})
	dir := stoppedRun(t, cfg, 3)
	path := filepath.Join(dir, journal.Name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(data, []byte(`"kind":"answered"`), []byte(`"kind":"abstained"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Targets = map[string]Target{"A": &Fake{}, "B": &Fake{}}
	if _, err := Resume(context.Background(), dir, cfg); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

// a build that can't name its commit may be of a changed tree.
func TestQ46UnknownBuild(t *testing.T) {
	for v, want := range map[string]bool{"": true, "unknown": true, "(devel)": true, "abc+dirty": true, "abc": false, "v1.2.3": false} {
		if got := (Code{Version: v}).Dirty(); got != want {
			t.Errorf("%q: %v", v, got)
		}
	}
}
