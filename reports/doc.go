// Package reports owns the Document — the truth about a finished run, as JSON
// with a shipped schema — and everything that is derived from it: terminal
// text, Markdown, HTML and JUnit.
//
// The data comes in through [Build], which copies, orders and completes but
// computes no figure anew; goes to disk through [WriteAll] and [Write]; and
// comes back through [Read]. A renderer sees nothing but a Document whose
// strings were made harmless first, so that no case text can break out of the
// page it is shown on. A new format is one file and one line in formats.
//
// The package refuses to score, to know a model and to show a number without
// its count, interval and method.
package reports
