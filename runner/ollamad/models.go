package ollamad

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/fabriccore/assay/runner/progress"
)

// Model is a model as it lies on a server.
type Model struct {
	Name    string // as asked for
	Tag     string // the name to call it by
	Digest  string // sha256 of its manifest, 64 hex digits (part of a route, H-004); empty if not there
	Size    int64  // bytes
	About   string // from the catalogue; empty for others
	Licence string // SPDX identifier from the catalogue; empty for others
	Weights string // pinned sha256 of the GGUF file; empty for others
}

// Catalogue lists the models that assay can get by itself, without digests.
func Catalogue() []Model {
	all := make([]Model, len(catalogue))
	for i := range catalogue {
		all[i] = catalogue[i].model()
	}
	return all
}

// Tag returns what a name is called on a server: the tag of a catalogue entry,
// or the name itself.
func Tag(name string) string {
	if e := lookUp(name); e != nil {
		return e.tag
	}
	return name
}

func (e *entry) model() Model {
	return Model{Name: e.name, Tag: e.tag, Size: e.size, About: e.about, Licence: e.licence, Weights: e.gguf}
}

// EnsureModels puts the named models on the server unless they are there, and
// returns them in the same order with the digests the server reports. A name is
// one of the catalogue's, whose weights are pinned, or any tag, which is pulled
// by the server if it lacks it.
func EnsureModels(ctx context.Context, server *Server, names []string, report progress.Reporter) ([]Model, error) {
	client := server.Client()
	models := make([]Model, 0, len(names))
	for _, name := range names {
		model, err := ensureModel(ctx, server, client, name, report)
		if err != nil {
			return nil, err
		}
		models = append(models, model)
	}
	return models, nil
}

func ensureModel(ctx context.Context, server *Server, client *api.Client, name string, report progress.Reporter) (Model, error) {
	e := lookUp(name)
	if e == nil {
		return ensureForeign(ctx, server, client, name, report)
	}
	current, err := hasContent(ctx, client, e)
	if err != nil {
		return Model{}, server.failed(ctx, "asking for model "+e.tag, err)
	}
	if !current {
		if err := createOnce(ctx, server, client, e, report); err != nil {
			return Model{}, err
		}
	}
	model := e.model()
	model.Name = name
	found, err := onServer(ctx, client, e.tag)
	if err != nil {
		return Model{}, server.failed(ctx, "listing models", err)
	}
	if found == nil {
		return Model{}, server.failed(ctx, "creating model "+e.tag, errors.New("the server does not list it"))
	}
	model.Digest, model.Size = found.Digest, found.Size
	return model, nil
}

// createOnce creates a catalogue entry's model. Servers of several processes
// share a model folder, and the name that the weights have for a moment is one
// for all, so one process creates and the others wait.
func createOnce(ctx context.Context, server *Server, client *api.Client, e *entry, report progress.Reporter) error {
	file, err := weights(ctx, server.cfg, e, report)
	if err != nil {
		return err
	}
	unlock, err := lock(ctx, server.cfg.path("weights", e.gguf+".create.lock"), report, "another assay creates "+e.tag)
	if err != nil {
		return err
	}
	defer unlock()
	current, err := hasContent(ctx, client, e)
	if err != nil {
		return server.failed(ctx, "asking for model "+e.tag, err)
	}
	if current {
		return nil
	}
	return create(ctx, server, client, e, file, report)
}

// ensureForeign is for tags outside the catalogue.
func ensureForeign(ctx context.Context, server *Server, client *api.Client, name string, report progress.Reporter) (Model, error) {
	found, err := onServer(ctx, client, name)
	if err != nil {
		return Model{}, server.failed(ctx, "listing models", err)
	}
	if found == nil {
		if err := pull(ctx, server, client, name, report); err != nil {
			return Model{}, err
		}
		if found, err = onServer(ctx, client, name); err != nil || found == nil {
			return Model{}, server.failed(ctx, "pulling model "+name, errors.Join(err, errors.New("the server does not list it")))
		}
	}
	return Model{Name: name, Tag: found.Name, Digest: found.Digest, Size: found.Size}, nil
}

// hasContent reports that the server has the entry's tag with the pinned weights,
// our template and the origin that makes its digest the same everywhere; anything
// else under that name is created anew.
func hasContent(ctx context.Context, client *api.Client, e *entry) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	shown, err := client.Show(ctx, &api.ShowRequest{Model: e.tag})
	if isNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	// The generated Modelfile names the blob the model was made from.
	return strings.Contains(shown.Modelfile, "sha256-"+e.gguf) &&
		shown.Details.ParentModel == e.base() &&
		(e.template == "" || shown.Template == e.template), nil
}

func onServer(ctx context.Context, client *api.Client, tag string) (*api.ListModelResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := client.List(ctx)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(tag[strings.LastIndexByte(tag, '/')+1:], ":") {
		tag += ":latest"
	}
	for i := range list.Models {
		if list.Models[i].Name == tag {
			return &list.Models[i], nil
		}
	}
	return nil, nil
}

// create uploads the weights as a blob and names a model after them.
func create(ctx context.Context, server *Server, client *api.Client, e *entry, file string, report progress.Reporter) (err error) {
	task := report.Start("creating "+e.tag, 0, progress.Bytes)
	defer func() { task.Done(err) }()
	f, err := os.Open(file)
	if err != nil {
		return writeFailed(file, err)
	}
	defer f.Close()
	digest := "sha256:" + e.gguf
	if !server.share(file, e.gguf) {
		if err := client.CreateBlob(ctx, digest, progress.Reader(f, task)); err != nil {
			return server.failed(ctx, "uploading the weights of "+e.tag, err)
		}
	}
	note := func(p api.ProgressResponse) error {
		task.Note(p.Status)
		return nil
	}
	// A manifest records what its weights came from, and a model made from a file
	// records the file's path; its digest would differ from machine to machine
	// (H-004). One made from a named model records the name.
	base := &api.CreateRequest{Model: e.base(), Files: map[string]string{e.name + ".gguf": digest}}
	if err := client.Create(ctx, base, note); err != nil {
		return server.failed(ctx, "creating model "+e.tag, err)
	}
	request := &api.CreateRequest{Model: e.tag, From: e.base(), Template: e.template, Parameters: e.params, License: e.licence}
	if err := client.Create(ctx, request, note); err != nil {
		return server.failed(ctx, "creating model "+e.tag, err)
	}
	// The blob stays, since the model uses it; if the name stays too, it is only
	// one more line in a list.
	_ = client.Delete(ctx, &api.DeleteRequest{Model: e.base()})
	return nil
}

// base is the name under which the bare weights are on a server for a moment.
func (e *entry) base() string {
	name, version, _ := strings.Cut(e.tag, ":")
	return name + "-weights:" + version
}

// share gives a server of ours the weights as a link into its model folder, so
// that they are neither uploaded nor kept twice. It reports false where that is
// not possible.
func (s *Server) share(file, sum string) bool {
	if s.proc == nil {
		return false
	}
	blobs := s.cfg.path("models", "blobs")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return false
	}
	err := os.Link(file, filepath.Join(blobs, "sha256-"+sum))
	return err == nil || errors.Is(err, fs.ErrExist)
}

// pull lets the server fetch a tag from its own registry.
func pull(ctx context.Context, server *Server, client *api.Client, tag string, report progress.Reporter) error {
	task := &pullTask{report: report, name: "pulling " + tag}
	err := client.Pull(ctx, &api.PullRequest{Model: tag}, task.update)
	task.done(err)
	if err == nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	var known []string
	for _, e := range catalogue {
		known = append(known, e.name)
	}
	return &Error{
		What: "model " + tag + " is not on the server and cannot be pulled", Where: server.URL, Err: err,
		Do: "check the name and the server's way to its registry, or use one that needs none: " + strings.Join(known, ", "),
	}
}

// pullTask follows the layers of a pull, one task for each sizeable one.
type pullTask struct {
	report progress.Reporter
	name   string
	task   progress.Task
	digest string
	seen   int64
}

func (p *pullTask) update(r api.ProgressResponse) error {
	if r.Digest != "" && r.Digest != p.digest && r.Total > 1<<20 {
		p.done(nil)
		p.task, p.digest, p.seen = p.report.Start(p.name, r.Total, progress.Bytes), r.Digest, 0
	}
	if p.task == nil {
		p.task = p.report.Start(p.name, 0, progress.Steps)
	}
	if r.Digest == p.digest && r.Completed > p.seen {
		p.task.Add(r.Completed - p.seen)
		p.seen = r.Completed
	}
	p.task.Note(r.Status)
	return nil
}

func (p *pullTask) done(err error) {
	if p.task != nil {
		p.task.Done(err)
		p.task = nil
	}
}

// ServerModels lists what is on the server, catalogue entries under their own
// names.
func ServerModels(ctx context.Context, server *Server) ([]Model, error) {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := server.Client().List(asking)
	if err != nil {
		return nil, server.failed(ctx, "listing models", err)
	}
	var models []Model
	for _, found := range list.Models {
		model := Model{Name: found.Name, Tag: found.Name}
		if e := lookUp(found.Name); e != nil {
			model = e.model()
		}
		model.Digest, model.Size = found.Digest, found.Size
		models = append(models, model)
	}
	return models, nil
}

// patience bounds the questions that a healthy server answers at once.
const patience = 30 * time.Second

// failed wraps an error of the server's API. The end of ctx, which is the
// caller's, is not the server's failure; the end of patience is.
func (s *Server) failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, ctx.Err())
	}
	do := "check that the server is still running"
	if s.LogPath != "" {
		do = "see " + s.LogPath
	}
	if strings.Contains(err.Error(), "no space left on device") {
		do = "free some disk space where the server keeps its models"
	}
	return &Error{What: what + " failed", Where: s.URL, Err: plainNetError(err), Do: do}
}

func isNotFound(err error) bool {
	var status api.StatusError
	return errors.As(err, &status) && status.StatusCode == http.StatusNotFound
}
