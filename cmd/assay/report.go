package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/reports"
)

// documentFile is the truth in a run folder.
const documentFile = "document.json"

func newReportCommand(st *state) *cobra.Command {
	var outs []string
	c := &cobra.Command{
		Use:   "report RUN",
		Short: "Show the report of a run again, or write it in other formats",
		Long: `Show the report of a run from its document.json. RUN is a run folder or its
name below --runs. Nothing is scored anew.

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

// readDocument reads the document of a run folder, or of a run's name below
// --runs, and says where it lies.
func readDocument(st *state, run string) (dir string, d reports.Document, err error) {
	dir = run
	f, err := os.Open(filepath.Join(dir, documentFile))
	if errors.Is(err, fs.ErrNotExist) && filepath.IsLocal(run) {
		dir = filepath.Join(st.flags.runs, run)
		f, err = os.Open(filepath.Join(dir, documentFile))
	}
	if err != nil {
		if isFolder(run) || isFolder(dir) {
			return "", d, usagef("run %s has no readable %s: score it first with 'assay score %s'", run, documentFile, run)
		}
		return "", d, usagef("there is no run %s, neither as a folder nor below %s", run, st.flags.runs)
	}
	defer f.Close()
	if d, err = reports.Read(f); err != nil {
		return "", d, fmt.Errorf("%s: %w", filepath.Join(dir, documentFile), err)
	}
	return dir, d, nil
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
