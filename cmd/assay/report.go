package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/reports"
	"github.com/fabriccore/assay/runner"
	"github.com/fabriccore/assay/runner/journal"
	"github.com/fabriccore/assay/scorers"
)

// documentFile is the truth in a run folder.
const documentFile = "document.json"

func newReportCommand(st *state) *cobra.Command {
	var outs []string
	c := &cobra.Command{
		Use:   "report RUN",
		Short: "Show the report of a run again, or write it in other formats",
		Long: `Show the report of a run from its document.json. RUN is a run folder, a part of
its name below --runs, or "latest". A run that has no report yet or has gone on
since is scored; a document that its run does not give is refused.

Without -o the report goes to standard output, as text or with --format json
as the document itself. Each -o FILE writes one file in the format of its
extension; -o FOLDER writes all files of a run folder.`,
		Example: `  assay report runs/2026-03-02T100000Z-phase1-3f9c
  assay report 2026-03-02T100000Z-phase1-3f9c -o report.html -o summary.md`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("report wants one run: assay report RUN")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return report(st, args[0], outs) },
	}
	c.Flags().StringArrayVarP(&outs, "output", "o", nil, "file to write, format by extension (repeatable)")
	return c
}

// report renders a run's document to the given files, or to standard output
// if there are none.
func report(st *state, run string, outs []string) error {
	for _, o := range outs {
		// An unknown format is told before anything is written.
		if !isFolder(o) {
			if _, err := reports.ForPath(o); err != nil {
				return usagef("-o %v", err)
			}
		}
	}
	dir, d, err := readDocument(st, run)
	if err != nil {
		return err
	}
	for _, o := range outs {
		if isFolder(o) {
			if _, err := reports.WriteAll(o, d); err != nil {
				return err
			}
		} else if err := reports.Write(o, d); err != nil {
			return err
		}
	}
	switch {
	case len(outs) > 0:
		return nil
	case st.flags.format == "json":
		return reports.Render(st.Stdout, "json", d, reports.Options{})
	}
	return reports.Terminal(st.Stdout, d, reports.Options{
		Width: st.Width, Color: st.StdoutIsTTY && !st.NoColor, Dir: dir, Files: reportFiles(dir),
	})
}

// readDocument reads the document of a run, and says where it lies. A run that
// has none yet, or whose document was written before the run had ended, is
// scored and its report written.
func readDocument(st *state, run string) (dir string, d reports.Document, err error) {
	if dir, err = runner.FindRun(st.flags.runs, run); err != nil {
		if !isFolder(run) {
			return "", d, err
		}
		dir = run // a folder with a document alone, kept elsewhere
	}
	f, err := os.Open(filepath.Join(dir, documentFile))
	if err == nil {
		defer f.Close()
		if d, err = reports.Read(f); err != nil {
			return "", d, fmt.Errorf("%s: %w", filepath.Join(dir, documentFile), err)
		}
		if !d.Run.Finished.IsZero() {
			return dir, d, st.checkDocument(dir, d)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", d, fmt.Errorf("read the report of run %s: %w", run, err)
	}
	r, err := openRun(st, dir)
	if err != nil {
		return "", d, err
	}
	if d, err = r.document(st); err != nil {
		return "", d, err
	}
	_, err = reports.WriteAll(dir, d)
	return dir, d, err
}

// checkDocument holds a document against the run in whose folder it lies: it
// is refused when the run does not give it. Where the run can't be scored here,
// for lack of its corpus, or where another build wrote a document that is no
// better, it is only said on standard error that it wasn't checked or differs.
func (st *state) checkDocument(dir string, d reports.Document) error {
	if _, err := os.Stat(filepath.Join(dir, runner.ManifestName)); err != nil {
		return nil // a document alone
	}
	name := filepath.Join(dir, documentFile)
	r, err := openRun(st, dir)
	var now reports.Document
	if err == nil {
		now, err = r.document(st)
	}
	if errors.Is(err, journal.ErrCorrupt) || errors.Is(err, runner.ErrMismatch) {
		return err
	}
	if err != nil {
		fmt.Fprintf(st.Stderr, "assay: %s is shown as it stands, not checked against its run: %s\n", name, oneLine(err.Error()))
		return nil
	}
	// The ledger of this machine holds what the document knew and later looks; on
	// another machine it holds neither.
	known := slices.ContainsFunc(now.Looks, func(l reports.Look) bool { return l.Run == d.Run.ID })
	now.Looks = slices.DeleteFunc(now.Looks, func(l reports.Look) bool { return l.At.After(d.GeneratedAt) })
	if !known {
		now.Looks = d.Looks
	}
	same, err := reports.Same(now, d)
	if err != nil || same {
		return err
	}
	if d.Tool.Version != now.Tool.Version && d.Verdict == scorers.Worse(d.Verdict, now.Verdict) {
		fmt.Fprintf(st.Stderr, "assay: %s was written by build %s; this build scores its run differently ('assay gate' shows it)\n", name, oneLine(d.Tool.Version))
		return nil
	}
	return fmt.Errorf("%w: %s is not what its run gives (it says %s, the run gives %s); move it away to have it written anew", reports.ErrDocument, name, d.Verdict, now.Verdict)
}

// reportFiles are the report files that a run folder really holds.
func reportFiles(dir string) []string {
	var names []string
	for _, f := range reports.Formats() {
		if f.File == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, f.File)); err == nil {
			names = append(names, f.File)
		}
	}
	return names
}

func isFolder(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}
