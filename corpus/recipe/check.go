package recipe

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
)

// MinSimilarity is the lowest token Jaccard similarity between a recorded
// evidence item and the same item of a new run at which a recipe still holds.
// Digits count as one sign and hashes are left out, so that times, ports,
// process and commit ids don't matter.
const MinSimilarity = 0.6

// Check runs the recipes of a corpus again, writing nothing, and compares each
// with its recorded case: the same class, the same evidence sources in the same
// order, the same kind of exit code and items at least MinSimilarity alike. Its
// error wraps ErrFailed when one moved or failed.
func Check(ctx context.Context, dir string, opt Options) ([]Result, error) {
	c, err := corpus.Load(dir)
	if err != nil {
		return nil, err
	}
	labels, err := label.Load("", c)
	if err != nil {
		return nil, err
	}
	specs, err := List(c.FS(), dir)
	if err != nil {
		return nil, err
	}
	if err := known(opt.Only, specs); err != nil {
		return nil, err
	}
	isolation, err := isolate(ctx)
	if err != nil {
		return nil, err
	}
	var results []Result
	bad := 0
	for _, s := range specs {
		if !wanted(opt.Only, s.Name) {
			continue
		}
		for _, r := range s.runs() {
			res := checkOne(ctx, isolation, c, labels, r)
			if res.Status == Moved || res.Status == Failed {
				bad++
			}
			results = append(results, res)
			if opt.Progress != nil {
				opt.Progress(res)
			}
			if ctx.Err() != nil {
				return results, ctx.Err()
			}
		}
	}
	if bad > 0 {
		return results, fmt.Errorf("%w: %d of %d", ErrFailed, bad, len(results))
	}
	return results, nil
}

func checkOne(ctx context.Context, isolation []string, c *corpus.Corpus, labels map[string]label.Label, r run) Result {
	res := Result{Recipe: r.name(), Case: opaque("c-", c.Meta.Name, r.name())}
	fail := func(status, format string, args ...any) Result {
		res.Status, res.Detail = status, fmt.Sprintf(format, args...)
		return res
	}
	if lacks := missing(r.spec.Needs); len(lacks) > 0 {
		return fail(Skipped, "missing: %s", strings.Join(lacks, ", "))
	}
	old, ok := c.Case(res.Case)
	if !ok {
		return fail(Moved, "the corpus has no case of this recipe; record it")
	}
	if got := labels[res.Case].Class; got != r.spec.Class {
		return fail(Moved, "label says %s, recipe.yaml %s", got, r.spec.Class)
	}
	items, err := execute(ctx, isolation, filepath.Join(c.Dir, corpus.RecipesDir, r.spec.Name), r)
	if err != nil {
		return fail(Failed, "%v", err)
	}
	order := names(items)
	if len(order) != len(old.Evidence) {
		return fail(Moved, "%d evidence items, recorded were %d", len(order), len(old.Evidence))
	}
	res.Similarity = 1
	for i, name := range order {
		e := old.Evidence[i]
		if source := itemName.FindStringSubmatch(name)[2]; source != e.Source {
			return fail(Moved, "evidence %s is now %s, recorded was %s", e.ID, source, e.Source)
		}
		if s := jaccard(tokens(items[name]), tokens(e.Text)); s < res.Similarity {
			res.Similarity = s
			if s < MinSimilarity {
				return fail(Moved, "evidence %s (%s) is only %.2f alike, the bound is %.2f", e.ID, name, s, MinSimilarity)
			}
		}
	}
	now, err := record(items)
	if err != nil {
		return fail(Failed, "%v", err)
	}
	then, err := record(map[string]string{"01-stage_record.json": old.Evidence[0].Text})
	if err != nil {
		return fail(Failed, "recorded case: %v", err)
	}
	if exitKind(now.ExitCode) != exitKind(then.ExitCode) {
		return fail(Moved, "exit code %d, recorded was %d", now.ExitCode, then.ExitCode)
	}
	return fail(Held, "")
}

// exitKind groups exit codes: failure, time-out, not startable, signal.
func exitKind(code int) string {
	switch {
	case code == 0:
		return "success"
	case code == 124 || code == 137:
		return "time-out"
	case code >= 125 && code <= 127:
		return "not startable"
	case code > 128:
		return "signal"
	}
	return "failure"
}

// hash finds words that look like (part of) a hash.
var hash = regexp.MustCompile(`^[0-9a-fA-F]{7,}$`)

// tokens is the set of words of a text, with each run of digits as one sign,
// without hashes.
func tokens(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !hash.MatchString(w) {
			set[maskDigits(w)] = true
		}
	}
	return set
}

func maskDigits(w string) string {
	var b strings.Builder
	digit := false
	for _, r := range w {
		if unicode.IsDigit(r) {
			if !digit {
				b.WriteByte('0')
			}
			digit = true
			continue
		}
		digit = false
		b.WriteRune(r)
	}
	return b.String()
}

// jaccard is the size of the intersection over that of the union of two sets;
// 1 for two empty ones.
func jaccard(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	union := len(a) + len(b) - both
	if union == 0 {
		return 1
	}
	return float64(both) / float64(union)
}
