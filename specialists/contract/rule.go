package contract

import (
	"bytes"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// rule is a compiled schema as it is asked on a tape, without a tree and
// without memory. What it accepts the schema library accepts; what it does
// not, the library decides and explains. The schema files stay the only
// source: a keyword that a rule does not know leaves its shape without one.
type rule struct {
	kinds   string // first bytes of the types that are allowed; empty = all
	integer bool   // a number must be whole
	members []any  // of enum: strings, booleans, nil
	all     []*rule
	one     []*rule
	when, then, other,
	extra, items, contains *rule // extra: what properties do not name
	closed             bool // no property but the named ones
	unique             bool
	props              []prop // at most 64
	required           uint64 // by index into props
	minProps, maxProps int
	minItems, maxItems int
	minLen, maxLen     int
	pattern            *regexp.Regexp
	min, max           *float64
}

type prop struct {
	name []byte
	of   *rule
}

const unbound = int(^uint(0) >> 1)

// ruleOf compiles a schema, or returns nil if it uses what rules do not know.
func ruleOf(s *jsonschema.Schema) *rule {
	return ruleOfPart(s, false)
}

// known are the keywords that rules follow, and annotations.
var known = []string{
	"DraftVersion", "Location", "ID", "Title", "Description", "Comment", "Ref", "Types", "Enum", "Const", "AllOf", "OneOf", "If", "Then",
	"Else", "Required", "Properties", "AdditionalProperties", "MinProperties", "MaxProperties", "MinItems", "MaxItems", "UniqueItems",
	"Contains", "Items2020", "MinLength", "MaxLength", "Pattern", "Minimum", "Maximum",
}

// ruleOfPart compiles one schema. exact forbids what a rule may leave to the
// library, where a no is a decision: in if, oneOf and contains.
func ruleOfPart(s *jsonschema.Schema, exact bool) *rule {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() && !slices.Contains(known, f.Name) {
			return nil
		}
	}
	r := &rule{
		unique: s.UniqueItems, minProps: or(s.MinProperties, 0), maxProps: or(s.MaxProperties, unbound), minItems: or(s.MinItems, 0),
		maxItems: or(s.MaxItems, unbound), minLen: or(s.MinLength, 0), maxLen: or(s.MaxLength, unbound),
	}
	ok := s.DraftVersion == 2020 && r.typed(s.Types) && r.valued(s) && r.bounded(s)
	if exact && (r.integer || r.min != nil || r.max != nil || r.unique) {
		return nil
	}
	part := func(into **rule, s *jsonschema.Schema, exact bool) {
		if s != nil && ok {
			*into = ruleOfPart(s, exact)
			ok = *into != nil
		}
	}
	for _, a := range append(slices.Clone(s.AllOf), s.Ref) {
		if a != nil {
			r.all = append(r.all, nil)
			part(&r.all[len(r.all)-1], a, exact)
		}
	}
	r.one = make([]*rule, len(s.OneOf))
	for i := range s.OneOf {
		part(&r.one[i], s.OneOf[i], true)
	}
	part(&r.when, s.If, true)
	part(&r.then, s.Then, exact)
	part(&r.other, s.Else, exact)
	part(&r.items, s.Items2020, exact)
	part(&r.contains, s.Contains, true)
	switch extra := s.AdditionalProperties.(type) {
	case nil:
	case bool:
		r.closed = !extra
	case *jsonschema.Schema:
		part(&r.extra, extra, exact)
	default:
		return nil
	}
	for name, p := range s.Properties {
		r.props = append(r.props, prop{name: []byte(name)})
		part(&r.props[len(r.props)-1].of, p, exact)
	}
	slices.SortFunc(r.props, func(a, b prop) int { return bytes.Compare(a.name, b.name) })
	for _, name := range s.Required {
		i := slices.IndexFunc(r.props, func(p prop) bool { return string(p.name) == name })
		if i < 0 {
			return nil
		}
		r.required |= 1 << i
	}
	if !ok || len(r.props) > 64 {
		return nil
	}
	return r
}

func or(p *int, other int) int {
	if p == nil {
		return other
	}
	return *p
}

func (r *rule) typed(t *jsonschema.Types) bool {
	if t == nil {
		return true
	}
	for _, name := range t.ToStrings() {
		switch name {
		case "object":
			r.kinds += "{"
		case "array":
			r.kinds += "["
		case "string":
			r.kinds += `"`
		case "boolean":
			r.kinds += "tf"
		case "null":
			r.kinds += "n"
		case "number":
			r.kinds += "0"
		case "integer":
			r.kinds += "0"
			r.integer = true
		default:
			return false
		}
	}
	return !r.integer || len(r.kinds) == 1 // integer stands alone
}

func (r *rule) valued(s *jsonschema.Schema) bool {
	if s.Enum != nil {
		r.members = s.Enum.Values
	}
	if s.Const != nil {
		if r.members != nil {
			return false
		}
		r.members = []any{*s.Const}
	}
	return !slices.ContainsFunc(r.members, func(m any) bool {
		switch m.(type) {
		case nil, string, bool:
			return false
		}
		return true
	})
}

func (r *rule) bounded(s *jsonschema.Schema) bool {
	whole := func(q *big.Rat) (*float64, bool) {
		if q == nil {
			return nil, true
		}
		f, exact := q.Float64()
		return &f, exact
	}
	var ok1, ok2 bool
	r.min, ok1 = whole(s.Minimum)
	r.max, ok2 = whole(s.Maximum)
	if s.Pattern != nil {
		p, err := regexp.Compile(s.Pattern.String())
		if err != nil {
			return false
		}
		r.pattern = p
	}
	return ok1 && ok2
}

// accepts reports whether the value at a node surely fits the rule.
func (t *tape) accepts(i int, r *rule) bool {
	n := t.nodes[i]
	if r.kinds != "" && strings.IndexByte(r.kinds, n.kind) < 0 || len(r.members) > 0 && !t.isOne(n, r.members) {
		return false
	}
	for _, a := range r.all {
		if !t.accepts(i, a) {
			return false
		}
	}
	fits := true
	switch n.kind {
	case '{':
		fits = t.objectFits(i, n, r)
	case '[':
		fits = t.arrayFits(i, n, r)
	case '"':
		fits = t.stringFits(n, r)
	case '0':
		fits = t.numberFits(n, r)
	}
	if !fits {
		return false
	}
	if len(r.one) > 0 {
		hits := 0
		for _, o := range r.one {
			if t.accepts(i, o) {
				hits++
			}
		}
		fits = hits == 1
	}
	if r.when != nil {
		next := r.other
		if t.accepts(i, r.when) {
			next = r.then
		}
		fits = fits && (next == nil || t.accepts(i, next))
	}
	return fits
}

func (t *tape) isOne(n node, members []any) bool {
	for _, m := range members {
		switch m := m.(type) {
		case nil:
			if n.kind == 'n' {
				return true
			}
		case bool:
			if m && n.kind == 't' || !m && n.kind == 'f' {
				return true
			}
		case string:
			if n.kind == '"' && string(t.bytes(n)) == m {
				return true
			}
		}
	}
	return false
}

func (t *tape) objectFits(i int, n node, r *rule) bool {
	if int(n.n) < r.minProps || int(n.n) > r.maxProps {
		return false
	}
	var seen uint64
	at := 0 // keys mostly stand in order
	for k := i + 1; k < int(n.next); k = int(t.nodes[k+1].next) {
		name, found := t.bytes(t.nodes[k]), false
		for range r.props {
			if found = bytes.Equal(r.props[at].name, name); found {
				break
			}
			if at++; at == len(r.props) {
				at = 0
			}
		}
		switch {
		case found:
			seen |= 1 << at
			if !t.accepts(k+1, r.props[at].of) {
				return false
			}
		case r.closed:
			return false
		case r.extra != nil && !t.accepts(k+1, r.extra):
			return false
		}
	}
	return seen&r.required == r.required
}

func (t *tape) arrayFits(i int, n node, r *rule) bool {
	if int(n.n) < r.minItems || int(n.n) > r.maxItems {
		return false
	}
	found := r.contains == nil
	for k := i + 1; k < int(n.next); k = int(t.nodes[k].next) {
		if r.items != nil && !t.accepts(k, r.items) {
			return false
		}
		found = found || t.accepts(k, r.contains)
		for j := i + 1; r.unique && j < k; j = int(t.nodes[j].next) {
			if a, b := t.nodes[j], t.nodes[k]; a.kind != '"' || b.kind != '"' || bytes.Equal(t.bytes(a), t.bytes(b)) {
				return false // other kinds are the library's to compare
			}
		}
	}
	return found
}

func (t *tape) stringFits(n node, r *rule) bool {
	if r.minLen == 0 && r.maxLen == unbound && r.pattern == nil {
		return true
	}
	s := t.bytes(n)
	if size := len(s); size > r.maxLen || size < utf8.UTFMax*r.minLen {
		if size = utf8.RuneCount(s); size > r.maxLen || size < r.minLen {
			return false
		}
	}
	return r.pattern == nil || r.pattern.Match(s)
}

// numberFits leaves a fraction at a bound, and a whole number that is written
// as a fraction, to the library, which counts exactly.
func (t *tape) numberFits(n node, r *rule) bool {
	if r.integer && !n.plain {
		return false
	}
	if r.min == nil && r.max == nil {
		return true
	}
	f, err := strconv.ParseFloat(string(t.in[n.start:n.end]), 64)
	if err != nil {
		return false
	}
	exact := n.plain && n.end-n.start <= 15
	return (r.min == nil || f > *r.min || exact && f == *r.min) && (r.max == nil || f < *r.max || exact && f == *r.max)
}
