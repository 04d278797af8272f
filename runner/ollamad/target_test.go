package ollamad

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fabriccore/assay/runner/progress"
)

// fakeTarget writes one program, counting its builds.
func fakeTarget(builds *atomic.Int32, before func(ctx context.Context, b *build) error) target {
	return target{
		name: "thing", what: "a thing", programs: []string{"thing"}, estimate: time.Second,
		build: func(ctx context.Context, b *build) error {
			builds.Add(1)
			if before != nil {
				if err := before(ctx, b); err != nil {
					return err
				}
			}
			return os.WriteFile(filepath.Join(b.out, "thing"), []byte("program"), 0o755)
		},
	}
}

func TestTargetBuiltOnce(t *testing.T) {
	cfg := testConfig(t, t.TempDir())
	var builds atomic.Int32
	target := fakeTarget(&builds, func(context.Context, *build) error { time.Sleep(300 * time.Millisecond); return nil })
	r := &recorder{}
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if _, err := target.ensure(context.Background(), cfg, r); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	if builds.Load() != 1 {
		t.Errorf("built %d times, want once", builds.Load())
	}
	if shown := strings.Join(r.all(), "\n"); !strings.Contains(shown, "waiting: another assay builds a thing") {
		t.Errorf("nothing says that others wait: %q", shown)
	}
	dir, ok := target.cached(cfg)
	if !ok {
		t.Fatal("not cached")
	}
	if _, err := os.Stat(dir + ".work"); !os.IsNotExist(err) {
		t.Error("the scratch folder stayed")
	}
}

// Whatever a killed or damaged build leaves is not taken for a finished one.
func TestTargetHalfBuilt(t *testing.T) {
	for name, damage := range map[string]func(dir string) error{
		"no stamp":        func(dir string) error { return os.Remove(filepath.Join(dir, stampFile)) },
		"torn stamp":      func(dir string) error { return os.Truncate(filepath.Join(dir, stampFile), 10) },
		"torn program":    func(dir string) error { return os.Truncate(filepath.Join(dir, "thing"), 3) },
		"no program":      func(dir string) error { return os.Remove(filepath.Join(dir, "thing")) },
		"not executable":  func(dir string) error { return os.Chmod(filepath.Join(dir, "thing"), 0o644) },
		"killed midway":   func(dir string) error { return os.Rename(dir, dir+".work") },
		"nothing at all":  os.RemoveAll,
		"garbage in work": func(dir string) error { os.RemoveAll(dir); return os.WriteFile(dir+".work", nil, 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t, t.TempDir())
			var builds atomic.Int32
			target := fakeTarget(&builds, nil)
			dir, err := target.ensure(t.Context(), cfg, progress.Discard())
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(dir); err != nil {
				t.Fatal(err)
			}
			if _, ok := target.cached(cfg); ok {
				t.Fatal("taken for a finished build")
			}
			if _, err := target.ensure(t.Context(), cfg, progress.Discard()); err != nil || builds.Load() != 2 {
				t.Errorf("built %d times, %v", builds.Load(), err)
			}
		})
	}
}

func TestTargetFails(t *testing.T) {
	cfg := testConfig(t, t.TempDir())
	var builds atomic.Int32
	failing := fakeTarget(&builds, func(context.Context, *build) error { return errors.New("no") })
	if _, err := failing.ensure(t.Context(), cfg, progress.Discard()); err == nil {
		t.Error("no error")
	}
	if _, ok := failing.cached(cfg); ok {
		t.Error("a failed build is cached")
	}
	hungry := fakeTarget(&builds, nil)
	hungry.space = 1 << 62
	if _, err := hungry.ensure(t.Context(), cfg, progress.Discard()); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "disk space") {
		t.Error(err)
	}
}

// A key covers what the result depends on.
func TestTargetKey(t *testing.T) {
	cfg := testConfig(t, t.TempDir())
	a, b := target{name: "x", key: "-O2"}, target{name: "x", key: "-O2 -mavx2"}
	if a.dir(cfg) == b.dir(cfg) {
		t.Error("other compiler flags, same build")
	}
	if a.dir(cfg) != (target{name: "x", key: "-O2"}).dir(cfg) {
		t.Error("the name is not stable")
	}
}
