// Package corpus owns cases, taxonomy files and frozen corpora: it loads,
// verifies byte by byte and freezes them. It refuses labels: the package
// corpus/label holds those, so that nothing which builds a prompt can see one.
package corpus
