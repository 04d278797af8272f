package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/corpus"
	"github.com/fabriccore/assay/corpus/label"
	"github.com/fabriccore/assay/corpus/recipe"
	"github.com/fabriccore/assay/reports"
)

// newCorpusCommand groups what one does with corpora: look at them, verify and
// freeze them, record constructed cases and run their recipes again.
func newCorpusCommand(st *state) *cobra.Command {
	cmd := &cobra.Command{Use: "corpus", Short: "List, show, verify, freeze and record corpora"}
	cmd.AddCommand(corpusList(st), corpusShow(st), corpusStats(st), corpusVerify(st), corpusFreeze(st),
		corpusRecord(st), corpusRecheck(st))
	return cmd
}

// emit prints v as JSON, or calls text when the format is text.
func (s *state) emit(v any, text func() error) error {
	if s.flags.format != "json" {
		return text()
	}
	enc := json.NewEncoder(s.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func corpusList(st *state) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the corpora in ./corpus and those that came with assay", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := label.List(".")
			if err != nil {
				return err
			}
			return st.emit(list, func() error {
				rows := make([][]string, len(list))
				for i, s := range list {
					rows[i] = []string{s.Name, fmt.Sprint(s.Version), s.Purpose, fmt.Sprint(s.Cases), fmt.Sprint(s.Families), s.Digest}
					if s.Error != "" {
						rows[i][5] = s.Error
					} else if s.Digest == "" {
						rows[i][5] = "not frozen"
					}
				}
				return st.table([]string{"name", "version", "purpose", "cases", "families", "digest"}, rows)
			})
		},
	}
}

func corpusShow(st *state) *cobra.Command {
	var withLabel bool
	cmd := &cobra.Command{
		Use: "show NAME [CASE]", Short: "Show a corpus' cases, or one case's evidence", Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := corpus.Find(".", args[0])
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return st.emit(c.Cases, func() error {
					rows := make([][]string, len(c.Cases))
					for i, k := range c.Cases {
						size := 0
						for _, e := range k.Evidence {
							size += len(e.Text)
						}
						rows[i] = []string{k.ID, k.Family, fmt.Sprint(len(k.Evidence)), fmt.Sprint(size), strings.Join(k.Tags, " ")}
					}
					return st.table([]string{"case", "family", "items", "bytes", "tags"}, rows)
				})
			}
			k, ok := c.Case(args[1])
			if !ok {
				return usagef("no case %s in %s; `assay corpus show %s` lists them", args[1], args[0], args[0])
			}
			shown := struct {
				Case  corpus.Case  `json:"case"`
				Label *label.Label `json:"label,omitempty"`
			}{Case: k}
			if withLabel {
				labels, err := label.Load("", c)
				if err != nil {
					return err
				}
				l := labels[k.ID]
				shown.Label = &l
			}
			return st.emit(shown, func() error {
				fmt.Fprintf(st.Stdout, "%s  family %s  %s\n", k.ID, k.Family, c.CaseDigest[k.ID])
				for _, e := range k.Evidence {
					text := reports.Text(e.Text)
					fmt.Fprintf(st.Stdout, "\n--- %s  %s  %s\n%s", e.ID, e.Source, oneLine(e.MediaType), text)
					if !strings.HasSuffix(text, "\n") {
						fmt.Fprintln(st.Stdout)
					}
				}
				if l := shown.Label; l != nil {
					fmt.Fprintf(st.Stdout, "\n=== %s  %s  evidence %s\n%s\n", l.Class, l.Difficulty, strings.Join(l.Evidence, " "), oneLine(l.Cause))
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&withLabel, "label", false, "show the case's label too")
	return cmd
}

func corpusStats(st *state) *cobra.Command {
	return &cobra.Command{
		Use: "stats NAME", Short: "Count classes, tool chains, difficulties and lengths", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := corpus.Find(".", args[0])
			if err != nil {
				return err
			}
			s, err := label.Count(c)
			if err != nil {
				return err
			}
			return st.emit(s, func() error {
				fmt.Fprintf(st.Stdout, "%s version %d, %s, %d cases in %d families\n%s\n", s.Name, s.Version, s.Purpose, s.Cases, s.Families, s.Origin)
				return st.table([]string{"what", "value", "cases"}, s.Rows())
			})
		},
	}
}

func corpusVerify(st *state) *cobra.Command {
	return &cobra.Command{
		Use: "verify NAME", Short: "Compare a frozen corpus byte by byte with what was frozen", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := label.Verify(".", args[0])
			if err != nil {
				return err
			}
			return st.emit(s, func() error {
				fmt.Fprintf(st.Stdout, "%s holds: %d cases, %s\n", s.Name, s.Cases, s.Digest)
				return nil
			})
		},
	}
}

func corpusFreeze(st *state) *cobra.Command {
	var newVersion bool
	cmd := &cobra.Command{
		Use: "freeze NAME", Short: "Check a corpus and its labels and write SHA256SUMS", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := corpus.Folder(".", args[0])
			if err != nil {
				return err
			}
			c, err := corpus.Freeze(dir, corpus.FreezeOptions{Check: label.Check, NewVersion: newVersion})
			if err != nil {
				return err
			}
			s, err := label.Count(c)
			if err != nil {
				return err
			}
			return st.emit(s, func() error {
				fmt.Fprintf(st.Stdout, "%s version %d is frozen: %s\n", s.Name, s.Version, s.Digest)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&newVersion, "new-version", false, "freeze a changed corpus anew, one version up")
	return cmd
}

func corpusRecord(st *state) *cobra.Command {
	return recipeCommand(st, "record NAME", "Run a corpus' recipes and write its cases and labels", recipe.Record)
}

func corpusRecheck(st *state) *cobra.Command {
	return recipeCommand(st, "recheck NAME", "Run a corpus' recipes again and compare with what was recorded", recipe.Check)
}

func recipeCommand(st *state, use, short string, do recipe.Func) *cobra.Command {
	var only []string
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			if found, err := corpus.Folder(".", args[0]); err == nil {
				dir = found
			} else if _, err := os.Stat(dir); err != nil {
				dir = "corpus/" + args[0]
			}
			ctx, cancel := st.background()
			defer cancel()
			results, err := do(ctx, dir, recipe.Options{Only: only, Now: st.Now, Progress: func(r recipe.Result) {
				fmt.Fprintf(st.Stderr, "%-9s %s %s\n", r.Status, r.Recipe, oneLine(r.Detail))
			}})
			if len(results) == 0 {
				return err
			}
			perr := st.emit(results, func() error {
				counts := map[string]int{}
				for _, r := range results {
					counts[r.Status]++
				}
				fmt.Fprintf(st.Stdout, "%d runs: %d recorded, %d held, %d moved, %d skipped, %d failed\n", len(results),
					counts[recipe.Recorded], counts[recipe.Held], counts[recipe.Moved], counts[recipe.Skipped], counts[recipe.Failed])
				return nil
			})
			if err == nil {
				err = perr
			}
			return err
		},
	}
	cmd.Flags().StringSliceVar(&only, "recipe", nil, "run only this recipe (repeatable)")
	return cmd
}
