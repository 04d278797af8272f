package contract

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Encode writes v canonically with every additive field. It does not
// check v; Decode of the result does.
func Encode[T any](v T) ([]byte, error) {
	if l := layoutOf(reflect.TypeFor[T]()); l != nil {
		return l.encode(reflect.ValueOf(&v).Elem(), true)
	}
	return Canonical(Filled(v))
}

// StrictStatus maps the status cancelled to failed with the reason code
// cancelled, for readers that know the seed's four statuses only.
func StrictStatus(r GatewayResponse) GatewayResponse {
	if r.Status == StatusCancelled {
		r.Status, r.ReasonCode = StatusFailed, ReasonCancelled
	}
	return r
}

// additive lists by shape the fields that the seed's exact shapes lack; * is
// every element. A recommendation is a FailureAssessment where it has one's
// fields.
var additive = map[reflect.Type][][]string{
	reflect.TypeFor[GatewayRequest](): {
		{"caller", "user_id"}, {"task", "taxonomy_digest"}, {"policy", "invocation"}, {"policy", "trigger"}},
	reflect.TypeFor[GatewayResponse]():     {{"reason_code"}, {"recommendation", "root_cause_hypotheses", "*", "failure_class"}},
	reflect.TypeFor[ContextPolicyDigest](): {{"signature"}, {"key_id"}},
	reflect.TypeFor[FailureAssessment]():   {{"root_cause_hypotheses", "*", "failure_class"}},
	reflect.TypeFor[CoreAgentResult]():     {{"recommendation", "root_cause_hypotheses", "*", "failure_class"}},
	reflect.TypeFor[DeterministicSufficiency](): {
		{"resolved_result", "root_cause_hypotheses", "*", "failure_class"}},
	reflect.TypeFor[AssistancePolicy](): {{"version"}, {"token_ceiling"}, {"latency_ms_ceiling"}, {"timeout_ms_ceiling"}, {"triggers"}},
}

// EncodeSeed writes v with the fields of the seed's exact shape alone.
// A response's status is one of the seed's four, and the reason code, which
// has no field there, stands as "reason_code:<code>" among unresolved_items.
func EncodeSeed[T any](v T) ([]byte, error) {
	if r, ok := any(v).(GatewayResponse); ok {
		r = StrictStatus(r)
		if r.ReasonCode != "" {
			r.UnresolvedItems = append(append([]string{}, r.UnresolvedItems...), "reason_code:"+string(r.ReasonCode))
		}
		v = any(r).(T)
	}
	raw, err := json.Marshal(Filled(v))
	if err != nil {
		return nil, fmt.Errorf("encode seed shape: %w", err)
	}
	var tree map[string]any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, fmt.Errorf("encode seed shape: %w", err)
	}
	for _, path := range additive[reflect.TypeFor[T]()] {
		drop(tree, path)
	}
	return Canonical(tree)
}

func drop(node any, path []string) {
	switch n := node.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(n, path[0])
			return
		}
		drop(n[path[0]], path[1:])
	case []any:
		if path[0] == "*" && len(path) > 1 {
			for _, e := range n {
				drop(e, path[1:])
			}
		}
	}
}
