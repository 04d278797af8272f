package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/runner/ollamad"
)

// newModelsCommand shows and gets the models a route can name.
func newModelsCommand(st *state) *cobra.Command {
	models := &cobra.Command{Use: "models", Short: "List and get models", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	models.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the models assay can get and those on the server",
			Long: `List the models assay can get by itself and those that are on the server. No
server is built for this.`,
			Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return listModels(st) },
		},
		&cobra.Command{
			Use: "pull NAME…", Short: "Put models on the server",
			Long: `Put models on the server. NAME is one of the catalogue's (see models list),
whose weights are pinned by content, or any tag that the server can pull.`,
			Args: func(_ *cobra.Command, args []string) error {
				if len(args) == 0 {
					return usagef("name at least one model: assay models pull NAME…; see 'assay models list'")
				}
				return nil
			},
			RunE: func(_ *cobra.Command, args []string) error { return pullModels(st, args) },
		},
	)
	return models
}

// listedModel is a row of `models list`.
type listedModel struct {
	Name    string `json:"name"`
	Tag     string `json:"tag"`
	Bytes   int64  `json:"bytes"`
	Digest  string `json:"digest"` // empty: not on the server
	About   string `json:"about,omitempty"`
	Licence string `json:"licence,omitempty"`
}

func listModels(st *state) error {
	ctx, cancel := st.background()
	defer cancel()
	var present []ollamad.Model
	server, err := ollamad.Find(ctx, ollamaConfig(st), reporter(st))
	switch {
	case err == nil:
		defer closeServer(ctx, server)
		if present, err = ollamad.ServerModels(ctx, server); err != nil {
			return err
		}
	case !errors.Is(err, ollamad.ErrUnavailable) || st.flags.ollama != "" || st.Getenv("OLLAMA_HOST") != "":
		return err
	}
	listed := []listedModel{}
	seen := map[string]bool{}
	for _, model := range append(present, ollamad.Catalogue()...) {
		if seen[model.Tag] {
			continue
		}
		seen[model.Tag] = true
		listed = append(listed, listedModel{model.Name, model.Tag, model.Size, model.Digest, model.About, model.Licence})
	}
	slices.SortStableFunc(listed, func(a, b listedModel) int { return strings.Compare(a.Name, b.Name) })
	return printModels(st, listed)
}

func printModels(st *state, listed []listedModel) error {
	if st.flags.format == "json" {
		return writeJSON(st.Stdout, listed)
	}
	rows := make([][]string, len(listed))
	for i, m := range listed {
		digest := "not there yet"
		if len(m.Digest) > 12 {
			digest = m.Digest[:12]
		}
		rows[i] = []string{m.Name, m.Tag, fmt.Sprintf("%.1f MB", float64(m.Bytes)/1e6), digest, m.Licence, m.About}
	}
	return st.table([]string{"name", "tag", "size", "digest", "licence", "about"}, rows)
}

func pullModels(st *state, names []string) error {
	ctx, cancel := st.background()
	defer cancel()
	report := reporter(st)
	server, err := ollamad.Ensure(ctx, ollamaConfig(st), report)
	if err != nil {
		return err
	}
	defer closeServer(ctx, server)
	models, err := ollamad.EnsureModels(ctx, server, names, report)
	if err != nil {
		return err
	}
	var listed []listedModel
	for _, m := range models {
		listed = append(listed, listedModel{m.Name, m.Tag, m.Size, m.Digest, m.About, m.Licence})
	}
	return printModels(st, listed)
}

// closeServer ends a server that was started for one command, an interrupted
// one too. A server that does not end in time is ended by its supervisor.
func closeServer(ctx context.Context, server *ollamad.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = server.Close(ctx)
}
