package ollamad

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/fabriccore/assay/runner/progress"
)

// The test binary stands in for assay: started again with one of these words it
// is the supervisor, or an assay that holds a server until it is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "__supervise":
			os.Exit(SuperviseMain(os.Args[2:], os.Stdin, os.Stdout))
		case "__serve":
			os.Exit(fakeServeMain())
		case "__hold":
			os.Exit(holdMain())
		}
	}
	os.Exit(m.Run())
}

func environment() map[string]string {
	env := map[string]string{}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return env
}

func executable(t testing.TB) string {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// recorder is a reporter that keeps what was shown.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.lines...)
}

func (r *recorder) Start(name string, _ int64, _ progress.Unit) progress.Task {
	r.add(name)
	return recorded{r}
}

type recorded struct{ *recorder }

func (recorded) Add(int64)        {}
func (r recorded) Note(s string)  { r.add("  " + s) }
func (r recorded) Done(err error) {}
