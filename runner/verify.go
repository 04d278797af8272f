package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/fabriccore/assay/benchmarks"
	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/runner/journal"
)

func hexSum(data []byte) string {
	d := sha256.Sum256(data)
	return hex.EncodeToString(d[:])
}

// Verify streams the messages of the run in dir and refuses, with
// journal.ErrCorrupt or ErrMismatch, what is not the evidence that was
// written: a journal of another run or manifest, a trial that the plan does
// not hold or holds elsewhere, a trial that stands twice, a transcript that is
// gone or was changed, a line after the end. The plan is made again from the
// manifest and the corpora, which the caller has compared with the manifest. Someone who rewrites every file consistently is
// not seen here; that needs a signature.
func (m Manifest) Verify(dir string, corpora []*corpus.Corpus) (iter.Seq2[journal.Message, error], error) {
	p, err := benchmarks.NewPlan(m.Suite, m.Arms, corpora, m.Selection)
	if err != nil {
		return nil, fmt.Errorf("plan run %s again: %w", m.ID, err)
	}
	if p.Digest != m.Plan.Digest || p.Len() != m.Plan.Trials || p.Cases() != m.Plan.Cases || p.Families() != m.Plan.Families {
		return nil, fmt.Errorf("%w: %s: its suite, arms and cases give plan %s with %d trials, not %s with %d",
			ErrMismatch, filepath.Join(dir, ManifestName), p.Digest, p.Len(), m.Plan.Digest, m.Plan.Trials)
	}
	v := &verifier{dir: dir, man: m, plan: p, done: make(bits, (p.Len()+63)/64)}
	return func(yield func(journal.Message, error) bool) {
		r, err := journal.OpenRun(dir)
		if err != nil {
			yield(journal.Message{}, err)
			return
		}
		defer r.Close()
		defer v.close()
		for msg, err := range r.All() {
			if err == nil {
				if err = v.message(msg); err != nil && !errors.Is(err, journal.ErrCorrupt) {
					err = fmt.Errorf("%w: %s line %d: %w", journal.ErrCorrupt, dir, r.Line(), err)
				}
			}
			if !yield(msg, err) || err != nil {
				return
			}
		}
	}, nil
}

// opened says in what the line that opens a journal is not of this manifest,
// "" if in nothing.
func (m Manifest) opened(r *journal.Run) string {
	switch {
	case r.ID != m.ID:
		return fmt.Sprintf("%s is of run %s, the journal of run %s", ManifestName, m.ID, r.ID)
	case r.PlanDigest != m.Plan.Digest || r.CodeDigest != m.Code.Digest || r.CodeVersion != m.Code.Version:
		return fmt.Sprintf("%s and the journal name different plans or builds", ManifestName)
	case r.Planned != m.Plan.Trials:
		return fmt.Sprintf("%s plans %d trials, the journal %d", ManifestName, m.Plan.Trials, r.Planned)
	case !slices.Equal(r.Exploratory, m.Exploratory):
		return fmt.Sprintf("%s and the journal differ in why the run is exploratory", ManifestName)
	case r.ManifestSHA256 != "" && r.ManifestSHA256 != m.sum:
		return fmt.Sprintf("%s is not the one that the run was started with", ManifestName)
	}
	return ""
}

// verifier holds one run's messages against its plan.
type verifier struct {
	dir   string
	man   Manifest
	plan  *benchmarks.Plan
	done  bits
	ended bool

	transcripts *journal.Transcripts // opened by the first trial that has one
}

func (v *verifier) close() {
	if v.transcripts != nil {
		_ = v.transcripts.Close()
	}
}

func (v *verifier) message(m journal.Message) error {
	if v.ended {
		return errors.New("a line after the end")
	}
	switch {
	case m.Run != nil:
		if what := v.man.opened(m.Run); what != "" {
			return errors.New(what)
		}
	case m.Trial != nil:
		return v.trial(m.Trial)
	case m.End != nil:
		v.ended = true
	}
	return nil
}

func (v *verifier) trial(t *journal.Trial) error {
	if t.Ordinal < 0 || t.Ordinal >= v.plan.Len() {
		return fmt.Errorf("trial %s is not in the plan", t.Key)
	}
	p := v.plan.Trial(t.Ordinal)
	arm := v.plan.Arms[p.Arm]
	for _, x := range []struct{ what, got, want string }{
		{"key", t.Key, p.Key}, {"case", t.Case, p.Case.ID}, {"case digest", t.CaseDigest, p.CaseDigest},
		{"family", t.Family, p.Case.Family}, {"corpus", t.Corpus, p.Corpus.Meta.Name},
		{"arm", t.Arm, arm.Name}, {"arm digest", t.ArmDigest, arm.Digest},
	} {
		if x.got != x.want {
			return fmt.Errorf("trial %d of the plan has %s %q, the plan says %q", t.Ordinal, x.what, x.got, x.want)
		}
	}
	switch {
	case t.Repeat != p.Repeat:
		return fmt.Errorf("trial %d of the plan has repeat %d, the plan says %d", t.Ordinal, t.Repeat, p.Repeat)
	case v.done.has(t.Ordinal):
		return fmt.Errorf("trial %s stands twice", t.Key)
	case !known(t.Kind):
		return fmt.Errorf("trial %s is of no known kind: %q", t.Key, t.Kind)
	case t.Timing.Total < 0 || t.Timing.Wait < 0 || t.Timing.Model < 0 || t.Timing.Overhead < 0:
		return fmt.Errorf("trial %s has a negative time", t.Key)
	}
	v.done.set(t.Ordinal)
	if t.TranscriptSHA256 == "" {
		return nil
	}
	if v.transcripts == nil {
		var err error
		if v.transcripts, err = journal.OpenTranscripts(v.dir); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the transcripts of %s are gone", v.dir)
		} else if err != nil {
			return err
		}
	}
	return v.transcripts.Check(t.Key, t.TranscriptSHA256)
}
