package ollamad

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// header is a C or C++ header that Ollama's module lacks, because module zips
// leave vendor folders out. Other modules carry it outside such a folder, so it
// comes through the user's own module proxy, and is pinned by content.
type header struct {
	module, version string
	file            string // inside the module
	sha256          string
	to              string // inside the include folder
}

var headers = []header{
	{"github.com/ollama/ollama", "v0.9.0", "llama/llama.cpp/common/json.hpp", "5b4b37308d67f9820b5926486374246054fdd06baae85309b820a8315f23caca", "nlohmann/json.hpp"},
	{"github.com/ollama/ollama", "v0.9.0", "llama/llama.cpp/common/stb_image.h", "594c2fe35d49488b4382dbfaec8f98366defca819d916ac95becf3e75f4200b3", "stb/stb_image.h"},
	{"github.com/gen2brain/malgo", "v0.11.24", "miniaudio.h", "7e4f3f13c8fe66df2080ac3dd12a89193e3c2463cb7f067c798abd7331cd8ee6", "miniaudio/miniaudio.h"},
}

// forward stands in for nlohmann/json_fwd.hpp; the full header declares the same
// names.
const forward = "#include \"json.hpp\"\n"

// serverTarget is the Ollama server itself, built with cgo.
func serverTarget(cfg Config) target {
	flags := cFlags("/proc/cpuinfo")
	return target{
		name: "ollama", what: "ollama " + Version, programs: []string{"ollama"},
		estimate: perProcessor(400 * time.Second), space: 1 << 30, key: flags,
		build: func(ctx context.Context, b *build) error { return buildServer(ctx, b, flags) },
	}
}

// toolsTarget is the converter and the generator of the tiny model, in pure Go.
func toolsTarget() target {
	return target{
		name: "tools", what: "the model tools", programs: []string{"convert", "tinygguf"},
		estimate: perProcessor(60 * time.Second), space: 200 << 20,
		build: buildTools,
	}
}

// perProcessor turns processor time into an estimate of elapsed time.
func perProcessor(cpu time.Duration) time.Duration {
	return max(10*time.Second, cpu/time.Duration(min(runtime.NumCPU(), 16)))
}

// cFlags selects the vector instructions the processor has; the server is built
// where it runs. Single features are named, since compilers learnt the level
// x86-64-v3 late.
func cFlags(cpuinfo string) string {
	const base = "-O2"
	if runtime.GOARCH != "amd64" {
		return base
	}
	data, err := os.ReadFile(cpuinfo)
	if err != nil {
		return base
	}
	have := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "flags" {
			for _, flag := range strings.Fields(value) {
				have[flag] = true
			}
			break
		}
	}
	for _, need := range []string{"avx", "avx2", "fma", "f16c", "bmi1", "bmi2"} {
		if !have[need] {
			return base
		}
	}
	return base + " -mavx -mavx2 -mfma -mf16c -mbmi -mbmi2"
}

func buildServer(ctx context.Context, b *build, flags string) error {
	goTool, cc, cxx, err := buildTooling(b.cfg)
	if err != nil {
		return err
	}
	include := filepath.Join(b.work, "include")
	if err := b.fetchHeaders(ctx, goTool, include); err != nil {
		return err
	}
	env := goEnv(b.cfg, map[string]string{
		"CGO_ENABLED": "1", "CC": cc, "CXX": cxx,
		"CGO_CFLAGS": flags + " -I" + include, "CGO_CXXFLAGS": flags + " -I" + include,
	})
	return b.goBuild(ctx, goTool, env,
		"-ldflags=-s -w -X=github.com/ollama/ollama/version.Version="+Version,
		"-o", filepath.Join(b.out, "ollama"), "github.com/ollama/ollama")
}

func buildTools(ctx context.Context, b *build) error {
	goTool, ok := lookPath(b.cfg.Env["PATH"], "go")
	if !ok {
		return missing("go", "making model weights")
	}
	return b.goBuild(ctx, goTool, goEnv(b.cfg, map[string]string{"CGO_ENABLED": "0"}),
		"-ldflags=-s -w", "-o", b.out+string(filepath.Separator), "./convert", "./tinygguf")
}

func (b *build) goBuild(ctx context.Context, goTool string, env []string, args ...string) error {
	// -v names packages as they are compiled, which is what there is to show.
	args = append([]string{"build", "-v", "-trimpath", "-buildvcs=false"}, args...)
	b.task.Note("fetching modules")
	onLine := func(line string) {
		if strings.HasPrefix(line, "go: downloading") {
			line = strings.TrimPrefix(line, "go: ")
		} else if strings.ContainsAny(line, " :") {
			return
		}
		b.task.Note(strings.TrimPrefix(line, "github.com/ollama/ollama/"))
	}
	if err := b.cfg.run(ctx, b.src, env, b.sink, onLine, goTool, args...); err != nil {
		return b.failed("building from the Go module failed", err)
	}
	return nil
}

// fetchHeaders fills the include folder through `go mod download`.
func (b *build) fetchHeaders(ctx context.Context, goTool, include string) error {
	dirs := map[string]string{}
	for _, h := range headers {
		module := h.module + "@" + h.version
		b.task.Note("fetching " + h.to)
		if dirs[module] == "" {
			dir, err := b.download(ctx, goTool, module)
			if err != nil {
				return err
			}
			dirs[module] = dir
		}
		data, err := os.ReadFile(filepath.Join(dirs[module], filepath.FromSlash(h.file)))
		if err != nil {
			return &Error{What: "a header is missing from " + module, Err: err, Do: "run `go clean -modcache` and try again"}
		}
		if got := sha256Hex(data); got != h.sha256 {
			return &Error{What: "a header has other content than pinned", Where: module + "/" + h.file, Err: fmt.Errorf("sha256 %s, want %s", got, h.sha256), Do: "run `go clean -modcache` and try again; if it stays, the module proxy delivers something else"}
		}
		if err := writeFile(filepath.Join(include, filepath.FromSlash(h.to)), data); err != nil {
			return writeFailed(include, err)
		}
	}
	if err := writeFile(filepath.Join(include, "nlohmann", "json_fwd.hpp"), []byte(forward)); err != nil {
		return writeFailed(include, err)
	}
	return nil
}

// download fetches a module and returns its folder.
func (b *build) download(ctx context.Context, goTool, module string) (dir string, err error) {
	var out strings.Builder
	env := goEnv(b.cfg, nil)
	// Outside of any module, so that the version asked for is the one delivered.
	err = b.cfg.run(ctx, b.out, env, b.sink, func(line string) { out.WriteString(line + "\n") }, goTool, "mod", "download", "-json", module)
	var answer struct{ Dir, Error string }
	text := out.String()
	if i := strings.Index(text, "{"); i >= 0 {
		_ = json.NewDecoder(strings.NewReader(text[i:])).Decode(&answer)
	}
	if answer.Error != "" {
		err = errors.New(answer.Error)
	}
	if err != nil || answer.Dir == "" {
		return "", b.failed("downloading "+module+" failed", err)
	}
	return answer.Dir, nil
}

func (b *build) failed(what string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{What: what, Err: err, Do: advice(err, "set GOPROXY if the module proxy is not reachable") + "the whole output is in " + b.log}
}

// goEnv is the user's environment (module proxy, caches, credentials helpers)
// without the settings that change what is built.
func goEnv(cfg Config, set map[string]string) []string {
	all := map[string]string{"GOFLAGS": "-mod=readonly", "GOWORK": "off", "GO111MODULE": "on"}
	for name, value := range set {
		all[name] = value
	}
	drop := func(name string) bool {
		switch name {
		case "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH":
			return true
		}
		return strings.HasPrefix(name, "CGO_")
	}
	return cfg.environ(drop, all)
}

// buildTooling finds what a cgo build needs; every missing program gets a line.
func buildTooling(cfg Config) (goTool, cc, cxx string, err error) {
	var errs []error
	path := cfg.Env["PATH"]
	goTool, ok := lookPath(path, "go")
	if !ok {
		errs = append(errs, missing("go", "building ollama"))
	}
	if cc, ok = firstOf(path, cfg.Env["CC"], "gcc", "clang", "cc"); !ok {
		errs = append(errs, missing("gcc", "building ollama"))
	}
	if cxx, ok = firstOf(path, cfg.Env["CXX"], "g++", "clang++", "c++"); !ok {
		errs = append(errs, missing("g++", "building ollama"))
	}
	return goTool, cc, cxx, errors.Join(errs...)
}

func firstOf(path string, names ...string) (string, bool) {
	for _, name := range names {
		if name == "" {
			continue
		}
		if filepath.IsAbs(name) || strings.Contains(name, " ") {
			return name, true // the user's own choice, perhaps with arguments
		}
		if file, ok := lookPath(path, name); ok {
			return file, true
		}
	}
	return "", false
}

// fixes says how a missing program is usually had.
var fixes = map[string]string{
	"go":      "install Go 1.24 or newer and put it on PATH",
	"gcc":     "install a C compiler (gcc or clang) and put it on PATH",
	"g++":     "install a C++ compiler (g++ or clang++) and put it on PATH",
	"python3": "install python3 with pip and put it on PATH",
	"pip":     "install pip for python3 (python3 -m ensurepip --user)",
	"git":     "install git and put it on PATH",
	"make":    "install make and put it on PATH",
}

func missing(program, purpose string) error {
	return &Error{What: program + " is missing, needed for " + purpose, Do: fixes[program]}
}
