package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers"
	"github.com/fabriccore/assay/scorers/stats"
)

// passing is a sample in which everything holds.
func passing() Input {
	in := sampleInput()
	in.Exploratory = nil
	in.Result.Verdict, in.Result.Reasons = scorers.Qualified, nil
	for i := range in.Result.Gates {
		in.Result.Gates[i].Verdict, in.Result.Gates[i].Open = scorers.Qualified, false
	}
	for _, w := range postureWords {
		in.Posture = append(in.Posture, PostureWord{Word: w.Word, Check: "check." + w.Word, State: Holds})
	}
	for _, r := range ruleRows {
		in.Rules = append(in.Rules, Rule{ID: r.ID, Check: "check." + r.ID, State: Holds})
	}
	return in
}

// TestCap: a verdict never gets better, and each missing thing lowers it as
// far as its requirement says (F-001, F-003, Q-42, Q-46).
func TestCap(t *testing.T) {
	if d := Build(passing()); d.Verdict != scorers.Qualified || len(d.Capped) != 0 {
		t.Fatalf("passing sample: %s, %v", d.Verdict, d.Capped)
	}
	for name, c := range map[string]struct {
		change func(*Input)
		want   scorers.Verdict
	}{
		"Q-46 exploratory":             {func(in *Input) { in.Exploratory = []string{"--limit"} }, scorers.Inconclusive},
		"F-001 a word without check":   {func(in *Input) { in.Posture = in.Posture[1:]; dropGate(in, "posture.advisory") }, scorers.NotQualified},
		"F-001 a failed check":         {func(in *Input) { in.Posture[2].State = Fails }, scorers.NotQualified},
		"F-001 said to hold, no check": {func(in *Input) { in.Posture[2].Check = "" }, scorers.NotQualified},
		"F-003 a rule without check":   {func(in *Input) { in.Rules = in.Rules[1:] }, scorers.Inconclusive},
		"F-003 a broken rule":          {func(in *Input) { in.Rules[0].State = Fails }, scorers.NotQualified},
		"Q-42 an open gate":            {func(in *Input) { in.Result.Gates[0].Open = true }, scorers.Inconclusive},
		"Q-42 a blocked gate":          {func(in *Input) { in.Result.Gates[0].Verdict = scorers.Blocked }, scorers.Blocked},
		"Q-42 a gate with no verdict":  {func(in *Input) { in.Result.Gates[0].Verdict = "" }, scorers.Inconclusive},
		"Q-42 no gates":                {func(in *Input) { in.Result.Gates = nil }, scorers.Inconclusive},
		"Q-42 no verdict":              {func(in *Input) { in.Result.Verdict = "" }, scorers.Invalid},
		"drift":                        {func(in *Input) { in.Fingerprints[3].ServerVersion = "0.18.0" }, scorers.Invalid},
		"more than planned":            {func(in *Input) { in.Run.Planned-- }, scorers.Invalid},
		"less than planned":            {func(in *Input) { in.Run.Planned++ }, scorers.Inconclusive},
		"a worse verdict stays":        {func(in *Input) { in.Result.Verdict = scorers.Blocked; in.Exploratory = []string{"x"} }, scorers.Blocked},
	} {
		in := passing()
		c.change(&in)
		d := Build(in)
		if d.Verdict != c.want {
			t.Errorf("%s: %s, want %s (%v)", name, d.Verdict, c.want, d.Capped)
		}
		if d.Verdict != d.Result.Verdict && len(d.Capped) == 0 {
			t.Errorf("%s: lowered without a reason", name)
		}
		if d.Result.Verdict != in.Result.Verdict {
			t.Errorf("%s: the scorers' verdict was changed", name)
		}
	}
}

func dropGate(in *Input, id string) {
	in.Result.Gates = slices.DeleteFunc(in.Result.Gates, func(g scorers.Gate) bool { return g.ID == id })
}

// TestEmpty: a document of nothing is complete, valid, shows all rows and
// passes nothing (F-001, F-003, F-151, Q-42).
func TestEmpty(t *testing.T) {
	d := Build(Input{})
	if d.Verdict == scorers.Qualified || len(d.Posture) != 5 || len(d.Rules) != 8 || len(d.Metrics) != 15 {
		t.Errorf("verdict %s, %d words, %d rules, %d metrics", d.Verdict, len(d.Posture), len(d.Rules), len(d.Metrics))
	}
	for _, f := range Formats() {
		render(t, f.Name, d, Options{})
	}
	if _, err := Read(strings.NewReader(render(t, "json", Build(Input{Result: scorers.Result{Verdict: scorers.Invalid}}), Options{}))); err != nil {
		t.Errorf("an empty run's document can't be read: %v", err)
	}
}

// TestDeterministic: the same input gives the same bytes, floats have at most
// 12 significant digits, and no float that JSON can't hold gets through.
func TestDeterministic(t *testing.T) {
	in := sampleInput()
	in.Result.Arms[0].Accuracy = stats.Figure{Point: 1.0 / 3, Lo: math.Inf(-1), Hi: math.Inf(1), Level: 0.95, N: 3, Method: "m"}
	in.Result.Arms[1].Accuracy = stats.Figure{Point: math.NaN(), N: 3}
	a, b := render(t, "json", Build(in), Options{}), render(t, "json", Build(in), Options{})
	if a != b {
		t.Error("two documents of one input differ")
	}
	if !strings.Contains(a, `"point": 0.333333333333,`) {
		t.Error("1/3 is not rounded to 12 digits")
	}
	if m := regexp.MustCompile(`\d\.\d{14,}`).FindString(a); m != "" {
		t.Errorf("%s is not rounded", m)
	}
	d, err := Read(strings.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	if f := d.Result.Arms[1].Accuracy; f.OK() {
		t.Errorf("NaN became a number: %+v", f)
	}
	if got := interval(d.Result.Arms[0].Accuracy, share); got != "[unbounded]" {
		t.Errorf("an interval without ends shows as %q", got)
	}
	if !math.IsInf(in.Result.Arms[0].Accuracy.Hi, 1) {
		t.Error("Build changed its input")
	}
}

// TestReadStrict: everything that is no document is refused (H-009).
func TestReadStrict(t *testing.T) {
	good := render(t, "json", Build(sampleInput()), Options{})
	edit := func(f func(map[string]any)) string {
		var m map[string]any
		if err := json.Unmarshal([]byte(good), &m); err != nil {
			t.Fatal(err)
		}
		f(m)
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, c := range map[string]struct{ doc, says string }{
		"empty":             {"", "unexpected end"},
		"another schema":    {edit(func(m map[string]any) { m["schema"] = "assay-report.v2" }), `"assay-report.v2"`},
		"unknown field":     {edit(func(m map[string]any) { m["extra"] = 1 }), "extra"},
		"missing field":     {edit(func(m map[string]any) { delete(m, "verdict") }), "verdict"},
		"unknown verdict":   {edit(func(m map[string]any) { m["verdict"] = "passed" }), "verdict"},
		"F-040 other claim": {edit(func(m map[string]any) { m["autonomy_claim"] = "autonomous" }), "autonomy_claim"},
		"F-003 a row less":  {edit(func(m map[string]any) { m["rules"] = m["rules"].([]any)[1:] }), "rules"},
		"F-151 a row twice": {edit(func(m map[string]any) { r := m["metrics"].([]any); r[3] = r[2] }), "unsupported_assumption_rate"},
		"better verdict":    {edit(func(m map[string]any) { m["verdict"] = "qualified" }), "better than its own rows"},
		"bytes after":       {good + "{}", "after"},
	} {
		_, err := Read(strings.NewReader(c.doc))
		if !errors.Is(err, ErrDocument) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error has more than one line", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := Render(&b, "json", Build(Input{Result: scorers.Result{Verdict: scorers.Invalid}}), Options{}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := Read(bytes.NewReader(raw))
		if err != nil {
			return
		}
		for _, fm := range Formats() {
			if err := Render(&bytes.Buffer{}, fm.Name, d, Options{}); err != nil {
				t.Errorf("%s: %v", fm.Name, err)
			}
		}
	})
}

// TestOrigin: every format that shows corpora prints where they are from
// (H-002), and none claims more than a bounded specialist (F-040).
func TestOrigin(t *testing.T) {
	d := Build(sampleInput())
	claim := regexp.MustCompile(`(?i)(\S+\s+)autonomous`)
	for _, f := range Formats() {
		out := strings.Join(strings.Fields(render(t, f.Name, d, Options{Width: 200})), " ")
		if !strings.Contains(out, "failures provoked on one machine by recipes kept beside the cases") {
			t.Errorf("%s does not print the corpus' origin", f.Name)
		}
		for _, m := range claim.FindAllStringSubmatch(out, -1) {
			if strings.TrimSpace(m[1]) != "not" {
				t.Errorf("%s: %q", f.Name, m[0])
			}
		}
	}
}

// TestMissingFigures: a missing figure shows a dash and its reason, never a
// number.
func TestMissingFigures(t *testing.T) {
	in := sampleInput()
	in.Result.Arms = []scorers.ArmScore{{Arm: "core:x", Accuracy: missing("no label was joined"), Coverage: stats.Figure{Missing: "no label was joined"}}}
	d := Build(in)
	for _, format := range []string{"text", "markdown", "html", "junit"} {
		out := render(t, format, d, Options{Width: 200})
		if !strings.Contains(out, "no label was joined") {
			t.Errorf("%s: no reason is given", format)
		}
		if strings.Contains(out, "0.0 %") && strings.Contains(out, "core:x") && strings.Contains(out, "0/0") {
			t.Errorf("%s: a missing figure has a number", format)
		}
	}
	if got := full(missing("why"), share); got != "– (why)" {
		t.Errorf("full = %q", got)
	}
}

func TestFigures(t *testing.T) {
	one := "cluster bootstrap, one-sided"
	for _, c := range []struct {
		f    stats.Figure
		q    quantity
		want string
	}{
		{stats.Figure{Point: 31.0 / 38, Lo: 0.6658, Hi: 0.9078, Level: 0.95, N: 38, Method: "Wilson"}, share, "81.6 % [66.6, 90.8], n = 38, Wilson, 95 %"},
		{stats.Figure{Point: -0.0001, Lo: -0.1, Hi: 0.1, Level: 0.9, N: 20, Clusters: 6, Method: "m"}, difference, "+0.0 pp [−10.0, +10.0], n = 20 in 6 families, m, 90 %"},
		{stats.Figure{Point: 0.21, Lo: 0.026, Hi: 1, Level: 0.95, N: 38, Method: one}, difference, "+21.0 pp ≥ +2.6 pp, n = 38, cluster bootstrap, one-sided, 95 %"},
		{stats.Figure{Point: 1.384, Lo: 0, Hi: 1.552, Level: 0.95, N: 29, Method: one}, times, "1.38× ≤ 1.55×, n = 29, cluster bootstrap, one-sided, 95 %"},
		{stats.Figure{Point: 998, Lo: 921, Hi: 1077, Level: 0.95, N: 38, Method: "m"}, millis, "998 ms [921, 1077], n = 38, m, 95 %"},
		{stats.Figure{Point: 0.081, N: 38, Method: "m"}, millis, "81.0 µs, n = 38, m"},
		{stats.Figure{Point: 0.0002, N: 38, Method: "McNemar"}, pvalue, "< 0.001, n = 38, McNemar"},
	} {
		if got := full(c.f, c.q); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestWrite: formats go by extension, an unknown one is one clear line, and
// WriteAll leaves the four files and nothing else (H-009).
func TestWrite(t *testing.T) {
	d, dir := Build(sampleInput()), t.TempDir()
	names, err := WriteAll(dir, d)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"document.json", "report.md", "report.html", "junit.xml"}; !slices.Equal(names, want) {
		t.Errorf("wrote %v", names)
	}
	if left, _ := os.ReadDir(dir); len(left) != 4 {
		t.Errorf("%d files", len(left))
	}
	err = Write(filepath.Join(dir, "out.pdf"), d)
	if err == nil || err.Error() != `out.pdf: no report format has the extension ".pdf": use one of .json, .md, .html, .xml, .txt` {
		t.Errorf("error: %v", err)
	}
	if err := Write(filepath.Join(dir, "out.TXT"), d); err != nil {
		t.Error(err)
	}
}

// TestCountsShown: planned trials and every response kind are in the report
// (design §3).
func TestCountsShown(t *testing.T) {
	out := render(t, "markdown", Build(sampleInput()), Options{})
	for _, k := range journal.Kinds {
		if !strings.Contains(out, " "+words(string(k))+" |") {
			t.Errorf("response kind %s is not shown", k)
		}
	}
	if !strings.Contains(out, "| run | 152 | 133 | 19 |") {
		t.Error("the run's counts are not shown")
	}
}
