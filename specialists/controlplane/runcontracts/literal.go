package runcontracts

import (
	"regexp/syntax"
	"strings"
)

// minLiteral is the least length, in bytes, of a literal worth looking for.
const minLiteral = 3

// needles lists lower-case literals of which every match of the pattern holds
// at least one; nil when the pattern promises none. Looking for them first
// spares most rules their regular expression.
func needles(pattern string) []string {
	re, err := syntax.Parse("(?i)"+pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return anyOf(re)
}

func anyOf(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		s := strings.ToLower(string(re.Rune))
		for i := range s {
			// Case folding reaches beyond ASCII (k, s and others): such a
			// literal is no safe promise about lower-cased text.
			if s[i] >= 0x80 {
				return nil
			}
		}
		if len(s) < minLiteral {
			return nil
		}
		return []string{s}
	case syntax.OpCapture, syntax.OpPlus:
		return anyOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return anyOf(re.Sub[0])
		}
	case syntax.OpAlternate:
		var all []string
		for _, s := range re.Sub {
			one := anyOf(s)
			if one == nil {
				return nil
			}
			all = append(all, one...)
		}
		return all
	case syntax.OpConcat:
		var best []string
		for _, s := range re.Sub {
			if one := anyOf(s); one != nil && (best == nil || shortest(one) > shortest(best)) {
				best = one
			}
		}
		return best
	}
	return nil
}

func shortest(s []string) int {
	n := len(s[0])
	for _, x := range s[1:] {
		n = min(n, len(x))
	}
	return n
}

// holds reports whether text, lower-cased and with the two runes that fold to
// ASCII letters replaced, may match.
func (r *Rule) holds(folded string) bool {
	if r.needles == nil {
		return true
	}
	for _, n := range r.needles {
		if strings.Contains(folded, n) {
			return true
		}
	}
	return false
}

// fold lower-cases text the way case-insensitive patterns see ASCII: the long
// s and the Kelvin sign fold to s and k.
func fold(s string) string {
	return strings.NewReplacer("ſ", "s", "K", "k").Replace(strings.ToLower(s))
}
