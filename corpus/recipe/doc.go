// Package recipe owns constructed cases: it runs recipes that inject one known
// fault into real tools, records what those tools say and writes cases and
// their labels, or runs a recipe again to see whether it still holds. It
// refuses to write evidence itself, to run with a network beyond loopback, and
// to touch a frozen corpus.
//
// # Protocol
//
// A recipe is a folder corpus/<name>/recipes/<recipe>/ with recipe.yaml (see
// Spec) and run.sh, a bash script that starts with `. "$LIB"` (lib.sh beside
// this file says what it finds and offers). Its working directory is a fresh
// folder. It sets up a small real project or service, injects the fault, runs
// the failing stage through `stage`, leaves 2 to 6 evidence files named
// NN-<source>.<ext> in $OUT, and exits 0. The first is always 01-stage_record.
//
// # What happens to the output
//
// Text is recorded as the tools wrote it, with these replacements and no other:
// the working folder's path becomes /workspace, the recording person's home
// folder /home/builder and user name (unless root) builder, the kernel's release
// 6.1.0-amd64; the host is really named build-host while the recipe runs; bytes
// that are not UTF-8 and NUL become U+FFFD. An item longer than MaxItem is
// refused, so is one that holds a private key, the recipe's own path or name, or
// a class id of the taxonomy that is no plain word.
package recipe
