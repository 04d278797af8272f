// Package benchmarks owns what is decided before a run: the suite, the
// resolved arms, the plan and the power of the plan. It refuses
// to run anything and to know a label.
package benchmarks
