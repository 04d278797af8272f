package specialists

import (
	"fmt"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/investigator"
	"github.com/fabriccore/assay/specialists/registry"
)

// Make builds one specialist from its registry entry and a route's constants.
type Make func(def contract.CoreAgentDefinition, constants map[string]float64, rules Rules) (contract.Specialist, error)

// Rules scores classes by known signatures; runcontracts.Engine is one.
type Rules = investigator.Signature

// catalogue lists every specialist by registry id; a new one is one line.
var catalogue = map[string]Make{
	investigator.ID: func(def contract.CoreAgentDefinition, c map[string]float64, r Rules) (contract.Specialist, error) {
		k, err := investigator.ConstantsFrom(c)
		if err != nil {
			return nil, err
		}
		return investigator.New(def, k, r), nil
	},
}

// Catalogue makes every specialist that the registry holds and this build has
// code for.
func Catalogue(constants map[string]float64, rules Rules) ([]contract.Specialist, error) {
	reg, err := registry.Default()
	if err != nil {
		return nil, err
	}
	var out []contract.Specialist
	for id, build := range catalogue {
		def, ok := reg.Get(id)
		if !ok {
			return nil, fmt.Errorf("specialist %s is not in the registry", id)
		}
		s, err := build(def, constants, rules)
		if err != nil {
			return nil, fmt.Errorf("make %s: %w", id, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// Investigator names the specialist of the first slice, for arms that replace
// it, and PromptDigest is the hash of all that is constant in its prompts.
func Investigator() (contract.CoreAgentDefinition, error) {
	reg, err := registry.Default()
	if err != nil {
		return contract.CoreAgentDefinition{}, err
	}
	def, ok := reg.Get(investigator.ID)
	if !ok {
		return contract.CoreAgentDefinition{}, fmt.Errorf("specialist %s is not in the registry", investigator.ID)
	}
	return def, nil
}

// PromptDigest is "sha256:<hex>" of everything constant that shapes the
// prompts of the stack's specialists.
func PromptDigest() string { return contract.Sum(investigator.PromptDigest()) }
