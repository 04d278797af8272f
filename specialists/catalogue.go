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

// part is one specialist of this build: its registry entry and how to make it.
type part struct {
	definition []byte
	make       Make
}

// catalogue lists the specialists; a new one is a folder and one line here.
var catalogue = []part{
	{investigator.Definition, makeInvestigator},
}

func makeInvestigator(def contract.CoreAgentDefinition, c map[string]float64, r Rules) (contract.Specialist, error) {
	k, err := investigator.ConstantsFrom(c)
	if err != nil {
		return nil, err
	}
	return investigator.New(def, k, r), nil
}

// Registry loads the definitions of the catalogue.
func Registry() (*registry.Registry, error) {
	list := make([][]byte, len(catalogue))
	for i, p := range catalogue {
		list[i] = p.definition
	}
	return registry.Load(list...)
}

// Catalogue makes every specialist of the catalogue for a route's constants.
func Catalogue(constants map[string]float64, rules Rules) ([]contract.Specialist, error) {
	reg, err := Registry()
	if err != nil {
		return nil, err
	}
	out := make([]contract.Specialist, len(catalogue))
	for i, p := range catalogue {
		d, err := contract.Decode[contract.CoreAgentDefinition](p.definition)
		if err != nil {
			return nil, err
		}
		def, _ := reg.Get(d.ID) // loaded from the same bytes
		if out[i], err = p.make(def, constants, rules); err != nil {
			return nil, fmt.Errorf("make %s: %w", d.ID, err)
		}
	}
	return out, nil
}

// Investigator is the registry entry of the specialist of the first slice, for
// arms that replace it.
func Investigator() (contract.CoreAgentDefinition, error) {
	reg, err := Registry()
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
