package recipe

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// secret finds what must never be recorded.
var secret = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----|AKIA[0-9A-Z]{16}|npm_[A-Za-z0-9]{36}|gh[pousr]_[A-Za-z0-9]{36}`)

// stageRecord is 01-stage_record.json.
type stageRecord struct {
	Stage    string  `json:"stage"`
	Command  string  `json:"command"`
	ExitCode int     `json:"exit_code"`
	Duration float64 `json:"duration_s"`
}

// collect reads the evidence files that a run left, normalises and checks them.
func collect(out string, norm *strings.Replacer, r run) (map[string]string, error) {
	entries, err := os.ReadDir(out)
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	items := map[string]string{}
	numbers := map[string]string{}
	for _, e := range entries {
		name := e.Name()
		m := itemName.FindStringSubmatch(name)
		if m == nil || !sources[m[2]] || !e.Type().IsRegular() {
			return nil, fmt.Errorf("evidence file %q; name it NN-<source>.<ext> with a known source", name)
		}
		if other, ok := numbers[m[1]]; ok {
			return nil, fmt.Errorf("evidence files %s and %s have one number; number them apart", other, name)
		}
		numbers[m[1]] = name
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return nil, fmt.Errorf("read evidence: %w", err)
		}
		text := norm.Replace(strings.ToValidUTF8(string(data), "\uFFFD"))
		if msg := itemFault(text, r); msg != "" {
			return nil, fmt.Errorf("evidence file %s: %s", name, msg)
		}
		items[name] = text
	}
	if _, err := record(items); err != nil {
		return nil, err
	}
	if len(items) < 2 || len(items) > 6 {
		return nil, fmt.Errorf("%d evidence files; leave 2 to 6", len(items))
	}
	for _, name := range r.spec.Evidence {
		if _, ok := items[name]; !ok {
			return nil, fmt.Errorf("recipe.yaml says %s carries the cause, but the run left no such file", name)
		}
	}
	return items, nil
}

func itemFault(text string, r run) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "is empty; leave it out"
	case len(text) > MaxItem:
		return fmt.Sprintf("has %d bytes, more than %d; keep its last lines only", len(text), MaxItem)
	case secret.MatchString(text):
		return "holds something that looks like a secret; keep it out"
	case strings.Contains(text, "recipes/"+r.spec.Name) || (len(r.spec.Name) > 8 && strings.Contains(text, r.spec.Name)):
		return "names the recipe; copy the sources into $WORK under neutral names"
	case strings.Contains(text, "/rec-"):
		return "names a temporary folder of the builder; run the tools inside $WORK"
	}
	return ""
}

// record finds and checks the stage record among the items.
func record(items map[string]string) (stageRecord, error) {
	var rec stageRecord
	if err := json.Unmarshal([]byte(items["01-stage_record.json"]), &rec); err != nil {
		return rec, fmt.Errorf("01-stage_record.json: %w; run the failing stage through `stage`", err)
	}
	if rec.ExitCode == 0 {
		return rec, fmt.Errorf("the stage %q succeeded; the fault did not bite", rec.Command)
	}
	return rec, nil
}

// names lists the items in the order in which a case shows them.
func names(items map[string]string) []string {
	out := make([]string, 0, len(items))
	for name := range items {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}
