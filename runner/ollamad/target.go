package ollamad

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/fabriccore/assay/runner/progress"
)

// nested is the module that is compiled on the user's machine. Its go.mod is
// stored under another name, because a folder with a go.mod cannot be embedded;
// its folder begins with an underscore, so that the product's own build and
// import rules never see Ollama's packages.
//
//go:embed _nested/go.mod.txt _nested/go.sum.txt _nested/convert/main.go _nested/tinygguf/main.go
var nested embed.FS

// target is something built once and then kept in the cache.
type target struct {
	name     string        // also the name in the cache
	what     string        // for people
	programs []string      // what the build leaves in its folder
	estimate time.Duration // on a machine with this many processors
	space    uint64        // bytes the build needs in the cache folder
	key      string        // everything the result depends on, besides nested
	build    func(ctx context.Context, b *build) error
}

// build is one build under way.
type build struct {
	cfg  Config
	work string // scratch folder, the same for every attempt, so that Go's build cache is hit after a kill
	src  string // the nested module
	out  string // where the programs go
	log  string // file that all output goes to
	sink io.Writer
	task progress.Task
}

// stamp is written last; a folder without one is not a finished build.
type stamp struct {
	Name   string            `json:"name"`
	Key    string            `json:"key"`
	Built  time.Time         `json:"built"`
	Took   float64           `json:"took_seconds"`
	Sizes  map[string]int64  `json:"bytes"`
	SHA256 map[string]string `json:"sha256"`
}

const stampFile = "stamp.json"

// dir is where the finished build lies: its name covers the sources, the pinned
// versions, the machine type and the compiler flags.
func (t target) dir(cfg Config) string {
	h := sha256.New()
	fmt.Fprintln(h, Version, runtime.GOOS, runtime.GOARCH, t.key)
	fs.WalkDir(nested, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			data, _ := nested.ReadFile(name)
			fmt.Fprintln(h, name, len(data))
			h.Write(data)
		}
		return err
	})
	return cfg.path("build", t.name+"-"+Version+"-"+hex.EncodeToString(h.Sum(nil))[:12])
}

// cached reports a finished build: its stamp is there and no program has
// another size than it had when it was stamped.
func (t target) cached(cfg Config) (dir string, ok bool) {
	dir = t.dir(cfg)
	data, err := os.ReadFile(filepath.Join(dir, stampFile))
	if err != nil {
		return dir, false
	}
	var s stamp
	if json.Unmarshal(data, &s) != nil {
		return dir, false
	}
	for _, name := range t.programs {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Size() != s.Sizes[name] || info.Mode()&0o111 == 0 {
			return dir, false
		}
	}
	return dir, true
}

// ensure returns the folder of the build, building it if need be. Of several
// processes one builds and the others wait.
func (t target) ensure(ctx context.Context, cfg Config, report progress.Reporter) (dir string, err error) {
	if dir, ok := t.cached(cfg); ok {
		return dir, nil
	}
	dir = t.dir(cfg)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", &Error{What: "the cache folder cannot be written", Where: cfg.CacheDir, Err: bareError(err), Do: "free or unlock it, or choose another one with ASSAY_CACHE=DIR"}
	}
	unlock, err := lock(ctx, dir+".lock", report, "another assay builds "+t.what)
	if err != nil {
		return "", err
	}
	defer unlock()
	if dir, ok := t.cached(cfg); ok {
		return dir, nil
	}
	return dir, t.run(ctx, cfg, dir, report)
}

func (t target) run(ctx context.Context, cfg Config, dir string, report progress.Reporter) (err error) {
	if err := enoughSpace(cfg.CacheDir, t.space, t.what); err != nil {
		return err
	}
	b := &build{cfg: cfg, work: dir + ".work"}
	b.src, b.out = filepath.Join(b.work, "src"), filepath.Join(b.work, "out")
	if b.log, err = newLog(cfg, "build-"+t.name); err != nil {
		return err
	}
	log, err := os.OpenFile(b.log, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	b.sink = log

	began := cfg.Now()
	b.task = report.Start("building "+t.what, int64(t.estimate/time.Second), progress.Seconds)
	defer func() { b.task.Done(err) }()
	if err := os.RemoveAll(b.work); err != nil {
		return writeFailed(b.work, err)
	}
	if err := b.writeSources(); err != nil {
		return writeFailed(b.src, err)
	}
	if err := t.build(ctx, b); err != nil {
		return err
	}
	if err := t.stamp(b, cfg.Now().Sub(began), cfg.Now()); err != nil {
		return writeFailed(b.out, err)
	}
	// What lies there has no valid stamp, or this would not run.
	if err := os.RemoveAll(dir); err != nil {
		return writeFailed(dir, err)
	}
	if err := os.Rename(b.out, dir); err != nil {
		return writeFailed(dir, err)
	}
	os.RemoveAll(b.work)
	return nil
}

func (b *build) writeSources() error {
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	return fs.WalkDir(nested, "_nested", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := nested.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(b.src, strings.TrimSuffix(strings.TrimPrefix(name, "_nested/"), ".txt"))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}

func (t target) stamp(b *build, took time.Duration, now time.Time) error {
	s := stamp{Name: t.name, Key: t.key, Built: now.UTC(), Took: took.Seconds(), Sizes: map[string]int64{}, SHA256: map[string]string{}}
	for _, name := range t.programs {
		file := filepath.Join(b.out, name)
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		sum, err := fileSHA256(file)
		if err != nil {
			return err
		}
		s.Sizes[name], s.SHA256[name] = info.Size(), sum
		if err := syncFile(file); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(b.out, stampFile)
	if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
		return err
	}
	return syncFile(file)
}

// lock takes an exclusive lock that ends with the process, showing that it waits
// where another process holds it.
func lock(ctx context.Context, file string, report progress.Reporter, waiting string) (unlock func(), err error) {
	l := flock.New(file)
	ok, err := l.TryLock()
	if err == nil && !ok {
		task := report.Start("waiting: "+waiting, 0, progress.Seconds)
		ok, err = l.TryLockContext(ctx, 200*time.Millisecond)
		task.Done(err)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || !ok {
		return nil, writeFailed(file, err)
	}
	return func() { l.Unlock() }, nil
}

func writeFailed(where string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	do := "check that the folder can be written, or choose another one with ASSAY_CACHE=DIR"
	if isDiskFull(err) {
		do = "free some space, or choose another disk with ASSAY_CACHE=DIR"
	}
	return &Error{What: "writing failed", Where: where, Err: bareError(err), Do: do}
}

func fileSHA256(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func syncFile(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
