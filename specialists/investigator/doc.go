// Package investigator is the bounded specialist fabric.failure_investigator
// (F-110): single-shot, advisory, one generative call a request. It selects
// evidence, ranks the taxonomy's classes by measured signals, asks the route
// for the wording and returns a typed FailureAssessment. It refuses labels,
// writing, delegation and any use of a model's word about its own certainty.
package investigator
