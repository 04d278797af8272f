package benchmarks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/route"
	"github.com/gowebpki/jcs"
)

// Stack is what answers for an arm, as the stack under test describes itself.
type Stack struct {
	SpecialistID      string
	SpecialistVersion string
	PromptDigest      string
	RulesDigest       string
}

// Resolver supplies what only the stack and the server know.
type Resolver interface {
	// Stack describes what answers for an arm; name is what its own name says
	// after the kind. An unknown baseline or control is an error.
	Stack(ctx context.Context, kind ArmKind, name string) (Stack, error)
	// ModelDigest is the digest under which the server serves a model.
	ModelDigest(ctx context.Context, m route.ModelSpec) (string, error)
}

// Offline resolves nothing: plans can be shown without a server. An arm
// resolved by it has another digest than the one that runs.
type Offline struct{}

// Stack implements Resolver.
func (Offline) Stack(context.Context, ArmKind, string) (Stack, error) { return Stack{}, nil }

// ModelDigest implements Resolver.
func (Offline) ModelDigest(context.Context, route.ModelSpec) (string, error) { return "", nil }

// GuessControl is the negative control that answers the suite's guess.
const GuessControl = "guess"

// ParseArm splits an arm's name into its kind and its route's name or tag.
func ParseArm(name string) (kind ArmKind, rest string, err error) {
	head, rest, colon := strings.Cut(name, ":")
	switch kind = ArmKind(head); {
	case kind == ArmDeterministic && colon == (rest != ""):
		return kind, rest, nil
	case (kind == ArmBare || kind == ArmCore) && rest != "":
		return kind, rest, nil
	case kind == ArmControl && rest != "":
		return kind, rest, nil
	}
	return "", "", fmt.Errorf("arm %q is not known: give deterministic, deterministic:BASELINE, bare:ROUTE, core:ROUTE or control:guess", name)
}

// generative are the profiles that a bare model tag serves.
var generative = []contract.Profile{
	contract.ProfileFastExtract, contract.ProfileBalancedReason, contract.ProfileDeepPlan,
	contract.ProfileCodeReason, contract.ProfileSecurityCritique,
}

// Route finds the route that an arm names: one of the suite's, else a model
// tag with threads for every generative profile. It is nil for an arm that
// has none.
func (s Suite) Route(arm string, threads int) (*route.Spec, error) {
	kind, name, err := ParseArm(arm)
	if err != nil {
		return nil, err
	}
	if kind != ArmBare && kind != ArmCore {
		return nil, nil
	}
	if spec, ok := s.Routes[name]; ok {
		return &spec, nil
	}
	spec := route.Spec{Name: name, Profiles: map[contract.Profile]route.ModelSpec{}}
	for _, p := range generative {
		spec.Profiles[p] = route.ModelSpec{Model: name, Options: route.DefaultOptions(threads)}
	}
	return &spec, nil
}

// Resolve turns the suite's arm names into arms, once, before a run. threads
// is the num_thread of bare model tags. control:guess runs the candidate's
// stack, with the specialist replaced.
func Resolve(ctx context.Context, s Suite, corpora []*corpus.Corpus, threads int, r Resolver) ([]Arm, error) {
	taxonomy, err := oneTaxonomy(corpora)
	if err != nil {
		return nil, err
	}
	arms := make([]Arm, len(s.Arms))
	for i, name := range s.Arms {
		if arms[i], err = resolveArm(ctx, s, name, threads, r); err != nil {
			return nil, fmt.Errorf("resolve arm %s: %w", name, err)
		}
		arms[i].TaxonomyDigest = taxonomy.TaxonomyDigest
		if g := arms[i].Guess; g != "" && !taxonomy.Taxonomy.Has(g) {
			return nil, fmt.Errorf("%w: arm %s guesses %q, which taxonomy %s does not have", ErrSuite, name, g, taxonomy.Taxonomy.Name)
		}
		if arms[i].Digest, err = armDigest(arms[i]); err != nil {
			return nil, fmt.Errorf("resolve arm %s: %w", name, err)
		}
	}
	return arms, nil
}

func oneTaxonomy(corpora []*corpus.Corpus) (*corpus.Corpus, error) {
	if len(corpora) == 0 {
		return nil, fmt.Errorf("%w: no corpus to ask", ErrSuite)
	}
	for _, c := range corpora[1:] {
		if c.TaxonomyDigest != corpora[0].TaxonomyDigest {
			return nil, fmt.Errorf("%w: corpora %s and %s have different taxonomies; run them apart", ErrSuite, corpora[0].Meta.Name, c.Meta.Name)
		}
	}
	return corpora[0], nil
}

func resolveArm(ctx context.Context, s Suite, name string, threads int, r Resolver) (Arm, error) {
	kind, rest, err := ParseArm(name)
	if err != nil {
		return Arm{}, err
	}
	a := Arm{Name: name, Kind: kind}
	if a.Route, err = s.Route(name, threads); err != nil {
		return Arm{}, err
	}
	if kind == ArmControl && rest == GuessControl {
		if s.Guess == nil {
			return Arm{}, fmt.Errorf("%w: %s needs the suite's guess", ErrSuite, name)
		}
		a.Guess = s.Guess.Class
	}
	st, err := r.Stack(ctx, kind, rest)
	if err != nil {
		return Arm{}, err
	}
	a.SpecialistID, a.SpecialistVer, a.PromptDigest, a.RulesDigest = st.SpecialistID, st.SpecialistVersion, st.PromptDigest, st.RulesDigest
	if a.Route == nil {
		return a, nil
	}
	for _, p := range a.profiles() {
		d, err := r.ModelDigest(ctx, a.Route.Profiles[p])
		if err != nil {
			return Arm{}, err
		}
		a.ModelDigests = append(a.ModelDigests, d)
	}
	return a, nil
}

// profiles lists the route's profiles, sorted: the order of ModelDigests.
func (a Arm) profiles() []contract.Profile {
	return slices.Sorted(maps.Keys(a.Route.Profiles))
}

// Models maps the route's profiles to the model digests that the arm was
// resolved with; "" where none was known.
func (a Arm) Models() map[contract.Profile]string {
	out := map[contract.Profile]string{}
	if a.Route == nil {
		return out
	}
	for i, p := range a.profiles() {
		out[p] = ""
		if i < len(a.ModelDigests) {
			out[p] = a.ModelDigests[i]
		}
	}
	return out
}

// armDigest is "sha256:<hex>" over the canonical JSON (RFC 8785) of an arm
// without its digest.
func armDigest(a Arm) (string, error) {
	a.Digest = ""
	return digest(a)
}

func digest(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	if data, err = jcs.Transform(data); err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
