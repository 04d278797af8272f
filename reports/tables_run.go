package reports

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/fabriccore/assay/runner/journal"
)

func postureTable(d Document) table {
	t := table{ID: "posture", Title: "Posture", Lead: "Five words, each bound to a check that ran (F-001). A word without one keeps the run from qualifying.",
		Columns: []column{{Name: "word"}, {Name: "state"}, {Name: "means", Wrap: true}, {Name: "check", Wrap: true}, {Name: "why", Wrap: true}}}
	for _, p := range d.Posture {
		t.Rows = append(t.Rows, []cell{text(p.Word), {Main: string(p.State), Tone: stateTone(p.State)}, text(p.Says), {Main: orElse(p.Check, "open"), Sub: strings.Join(p.Evidence, ", ")}, text(p.Why)})
	}
	return t
}

func ruleTable(d Document) table {
	t := table{ID: "rules", Title: "Binding rules R1–R8",
		Columns: []column{{Name: "rule"}, {Name: "state"}, {Name: "says", Wrap: true}, {Name: "check", Wrap: true}, {Name: "why", Wrap: true}}}
	for _, r := range d.Rules {
		t.Rows = append(t.Rows, []cell{text(r.ID), {Main: words(string(r.State)), Tone: stateTone(r.State)}, text(r.Says), {Main: orElse(r.Check, checkless(r.State)), Sub: strings.Join(r.Evidence, ", ")}, text(r.Why)})
	}
	return t
}

func metricTable(d Document) table {
	t := table{ID: "metrics", Title: "The fifteen metrics",
		Columns: []column{{Name: "metric", Wrap: true}, {Name: "state"}, {Name: "value", Wrap: true}, {Name: "reason", Wrap: true}}}
	for _, m := range d.Metrics {
		tn := faint
		switch m.State {
		case Measured:
			tn = plain
		case NotMeasured:
			tn = warn
		}
		t.Rows = append(t.Rows, []cell{text(m.Name), {Main: words(string(m.State)), Tone: tn}, text(m.Value), text(m.Why)})
	}
	return t
}

func openTable(d Document) table {
	t := table{ID: "open", Title: "Open rows", Lead: "No result of this run can close these.",
		Columns: []column{{Name: "row"}, {Name: "requires", Wrap: true}, {Name: "why it is open", Wrap: true}, {Name: "evidence", Wrap: true, Drop: 1}},
		Empty:   "No row is open."}
	for _, o := range d.OpenGates {
		t.Rows = append(t.Rows, []cell{{Main: o.ID, Tone: warn}, text(o.Requires), text(o.Why), text(strings.Join(o.Evidence, ", "))})
	}
	return t
}

func corpusTable(d Document) table {
	t := table{ID: "corpora", Title: "Corpora",
		Columns: []column{{Name: "corpus"}, {Name: "origin", Wrap: true}, {Name: "licence", Wrap: true}, {Name: "purpose"}, {Name: "cases", Right: true}, {Name: "families", Right: true}, {Name: "labels", Wrap: true}, {Name: "digest", Wrap: true}},
		Empty:   "No corpus is named."}
	for _, c := range d.Corpora {
		origin := cell{Main: orElse(c.Origin, "not stated")}
		if c.Origin == "" {
			origin.Tone = warn
		}
		purpose := cell{Main: orDash(c.Purpose)}
		if c.Synthetic {
			purpose.Sub, purpose.Tone = "synthetic", warn
		}
		t.Rows = append(t.Rows, []cell{{Main: c.Name, Sub: fmt.Sprintf("v%d", c.Version)}, origin, text(c.Licence), purpose,
			{Main: strconv.Itoa(c.Cases)}, {Main: strconv.Itoa(c.Families)}, text(counted(c.Labels)), text(orElse(c.Digest, "not frozen"))})
	}
	return t
}

func armTable(d Document) table {
	t := table{ID: "arms", Title: "Arms",
		Columns: []column{{Name: "arm"}, {Name: "kind"}, {Name: "specialist", Wrap: true}, {Name: "models", Wrap: true}, {Name: "digests", Wrap: true}},
		Empty:   "No arm is described."}
	for _, a := range d.Arms {
		spec := orDash(a.SpecialistID)
		if a.SpecialistVer != "" {
			spec += " " + a.SpecialistVer
		}
		var models []string
		if a.Route != nil {
			for p, m := range a.Route.Profiles {
				models = append(models, fmt.Sprintf("%s: %s", p, m.Model))
			}
			sort.Strings(models)
		}
		if a.Guess != "" {
			spec = "always answers " + a.Guess
		}
		ds := []string{"arm " + orDash(a.Digest)}
		for _, p := range [][2]string{{"prompt", a.PromptDigest}, {"rules", a.RulesDigest}, {"taxonomy", a.TaxonomyDigest}} {
			if p[1] != "" {
				ds = append(ds, p[0]+" "+p[1])
			}
		}
		t.Rows = append(t.Rows, []cell{text(a.Name), text(string(a.Kind)), text(spec), {Main: orElse(strings.Join(models, "; "), "no model"), Sub: strings.Join(a.ModelDigests, " ")}, text(strings.Join(ds, "; "))})
	}
	return t
}

func routeTable(d Document) table {
	t := table{ID: "routes", Title: "Route fingerprints", Lead: "Read before the first trial and again after the last.",
		Columns: []column{{Name: "arm"}, {Name: "profile"}, {Name: "model", Wrap: true}, {Name: "digest", Wrap: true}, {Name: "options", Wrap: true}, {Name: "server"}, {Name: "drift", Wrap: true}},
		Empty:   "No route was fingerprinted."}
	for _, r := range d.Routes {
		drift := cell{Main: "none", Tone: good}
		fp := r.Before
		switch {
		case len(r.Drift) > 0:
			drift = cell{Main: strings.Join(r.Drift, "; "), Tone: bad}
		case r.Before == nil:
			drift = cell{Main: "not read before the run", Tone: warn}
		case r.After == nil:
			drift = cell{Main: "not read after the run", Tone: warn}
		}
		if fp == nil {
			fp = r.After
		}
		if fp == nil || len(fp.Profiles) == 0 {
			server := none
			if fp != nil {
				server = orDash(fp.ServerVersion)
			}
			t.Rows = append(t.Rows, []cell{text(r.Arm), text(""), text("no model"), text(""), text(""), {Main: server}, drift})
			continue
		}
		for _, p := range fp.Profiles {
			opts := options(p.Options)
			if p.NumCtx > 0 {
				opts += fmt.Sprintf(" (num_ctx read back: %d)", p.NumCtx)
			}
			t.Rows = append(t.Rows, []cell{text(r.Arm), text(string(p.Profile)), text(p.Tag), {Main: orDash(p.Digest), Sub: prefixed("template ", p.Template)}, text(opts), text(fp.ServerVersion), drift})
		}
	}
	return t
}

func powerTable(d Document) table {
	t := table{ID: "power", Title: "Power before the run", Lead: "What the plan could find, had it been there. Below 80 % an interval that spans the limit reads as inconclusive.",
		Columns: []column{{Name: "of", Wrap: true}, {Name: "planned effect", Right: true}, {Name: "power", Right: true}, {Name: "one-sided alpha", Right: true}, {Name: "n", Right: true}, {Name: "families", Right: true}, {Name: "method", Wrap: true}},
		Empty:   "No power was computed before this run."}
	for _, p := range d.Power {
		if p.Missing != "" {
			t.Rows = append(t.Rows, []cell{text(p.Of), {Main: none, Tone: faint}, {Main: none, Tone: faint}, {Main: none, Tone: faint}, {Main: strconv.Itoa(p.N)}, {Main: strconv.Itoa(p.Families)}, text(p.Missing)})
			continue
		}
		effect := signed(100*p.Effect, 1) + " pp"
		if p.Unit == "×" {
			effect = significant(p.Effect, 3) + "×"
		}
		c := cell{Main: number(p.Power, share, 0) + " %"}
		if p.Power < 0.8 {
			c.Tone = warn
		}
		t.Rows = append(t.Rows, []cell{text(p.Of), {Main: effect}, c, {Main: strconv.FormatFloat(p.Alpha, 'g', 4, 64)}, {Main: strconv.Itoa(p.N)}, {Main: strconv.Itoa(p.Families)}, text(p.Method)})
	}
	return t
}

func lookTable(d Document) table {
	t := table{ID: "looks", Title: "Looks at the frozen corpora",
		Lead:    fmt.Sprintf("%d started runs so far, this one included. Every look spends alpha.", len(d.Looks)),
		Columns: []column{{Name: "when"}, {Name: "run", Wrap: true}, {Name: "corpus", Wrap: true}, {Name: "candidates", Wrap: true}},
		Empty:   "No look is recorded."}
	if len(d.Looks) == 1 {
		t.Lead = "One started run so far: this one. Every look spends alpha."
	}
	for _, l := range d.Looks {
		t.Rows = append(t.Rows, []cell{text(when(l.At)), text(l.Run), text(l.Corpus), text(strings.Join(l.Candidates, ", "))})
	}
	return t
}

func identityTable(d Document) table {
	finished := when(d.Run.Finished)
	if d.Run.Finished.IsZero() {
		finished = "not finished"
	}
	if d.Run.Interrupted != "" {
		finished += " (interrupted: " + d.Run.Interrupted + ")"
	}
	suite := d.Suite.Name
	if d.Suite.AdHoc {
		suite += " (ad hoc)"
	}
	t := table{ID: "identity", Title: "Run", Columns: []column{{Name: "what"}, {Name: "value", Wrap: true}}}
	for _, kv := range [][2]string{
		{"run", d.Run.ID}, {"suite", suite}, {"suite digest", d.Suite.Digest}, {"candidates", strings.Join(d.Suite.Candidate, ", ")},
		{"started", when(d.Run.Started)}, {"finished", finished}, {"repeats", strconv.Itoa(d.Run.Repeats)}, {"resumed", strconv.Itoa(d.Run.Resumes) + " times"},
		{"plan digest", d.Run.PlanDigest}, {"tags", tags(d.Run.Tags)},
		{"tool", d.Tool.Name + " " + d.Tool.Version}, {"code digest", d.Tool.Digest},
		{"host class", host(d.Host)}, {"labels", counted(d.Result.Labels)}, {"autonomy claim", d.AutonomyClaim}, {"report made", when(d.GeneratedAt)}, {"schema", d.Schema},
	} {
		t.Rows = append(t.Rows, []cell{text(kv[0]), text(kv[1])})
	}
	return t
}

func host(h journal.Host) string {
	if h == (journal.Host{}) {
		return ""
	}
	return fmt.Sprintf("%s, %d cores, %d MB, %s %s, kernel %s", orElse(h.CPU, "unknown CPU"), h.Cores, h.MemoryMB, h.OS, h.Arch, orDash(h.KernelMajor))
}

func when(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.Format("2006-01-02 15:04:05 UTC")
}

// counted writes a count per name in name order.
func counted(m map[string]int) string {
	var parts []string
	for k, n := range m {
		parts = append(parts, fmt.Sprintf("%s %d", k, n))
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

func tags(m map[string]string) string {
	var parts []string
	for k, v := range m {
		parts = append(parts, k+"="+v)
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// checkless says what stands where no check does.
func checkless(s State) string {
	if s == OutOfPhase {
		return none
	}
	return "open"
}
