package journal

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Differs lists in words what differs between two fingerprints of one arm,
// nil if nothing does. A num_ctx that could not be read is no difference; when
// they were read is none either.
func (r Route) Differs(o Route) []string {
	var out []string
	diff := func(what, was, is string) {
		if was != is {
			out = append(out, fmt.Sprintf("%s was %s, is %s", what, orNone(was), orNone(is)))
		}
	}
	diff("route", r.Name, o.Name)
	diff("server version", r.ServerVersion, o.ServerVersion)
	now := map[string]ProfileModel{}
	for _, p := range o.Profiles {
		now[string(p.Profile)] = p
	}
	seen := map[string]bool{}
	for _, p := range r.Profiles {
		name := string(p.Profile)
		seen[name] = true
		q, ok := now[name]
		if !ok {
			out = append(out, "profile "+name+" is gone")
			continue
		}
		diff(name+" model tag", p.Tag, q.Tag)
		diff(name+" model digest", p.Digest, q.Digest)
		diff(name+" template", p.Template, q.Template)
		diff(name+" options", optionText(p.Options), optionText(q.Options))
		if p.NumCtx != 0 && q.NumCtx != 0 {
			diff(name+" num_ctx", strconv.Itoa(p.NumCtx), strconv.Itoa(q.NumCtx))
		}
	}
	for _, p := range o.Profiles {
		if !seen[string(p.Profile)] {
			out = append(out, "profile "+string(p.Profile)+" is new")
		}
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// optionText is the options' JSON, whose keys are sorted.
func optionText(m map[string]any) string {
	if len(m) == 0 {
		return "none"
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
