package reports

// fullGates are the gates as a whole terminal report shows them: what each one requires,
// and below it why it has not passed. Rows that sum up others are left to
// fullPosture.
func fullGates(d Document) table {
	t := table{ID: "gates", Title: "Gates", Columns: []column{{Name: "gate"}, {Name: "verdict"}, {Name: "requires, and what was found", Wrap: true}},
		Empty: "No gate was applied, so nothing has passed."}
	for _, g := range d.Result.Gates {
		if boundRow(g.ID) {
			continue
		}
		w, tn := gateWord(g)
		found := orElse(g.Why, "no reason given")
		if g.Figure != nil && !g.Figure.OK() {
			found += " (" + none + " " + g.Figure.Missing + ")"
		} else if g.Observed != "" && g.Observed != "not measured" && !g.Open {
			found += " (" + g.Observed + ")"
		}
		t.Rows = append(t.Rows, []cell{text(g.ID), {Main: w, Tone: tn}, {Main: orDash(g.Requires), Sub: "→ " + found}})
	}
	return t
}

// fullPosture are the five words and the eight rules, a line each.
func fullPosture(d Document) table {
	t := table{ID: "posture", Title: "Posture and rules", Columns: []column{{Name: "row"}, {Name: "state"}, {Name: "check", Wrap: true}}}
	for _, p := range d.Posture {
		t.Rows = append(t.Rows, []cell{text(p.Word), {Main: string(p.State), Tone: stateTone(p.State)}, text(orElse(p.Check, p.Why))})
	}
	for _, r := range d.Rules {
		t.Rows = append(t.Rows, []cell{{Main: r.ID, Sub: r.Says}, {Main: words(string(r.State)), Tone: stateTone(r.State)}, text(orElse(r.Check, r.Why))})
	}
	return t
}
