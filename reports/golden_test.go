package reports

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the goldens and the schema anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got; -update writes it anew):\n%s", name, diff)
	}
}

// TestGoldens renders every format from the sample's JSON (H-009, F-104,
// H-011): the JSON first, the rest from what was read back.
func TestGoldens(t *testing.T) {
	var b bytes.Buffer
	if err := Render(&b, "json", Build(sampleInput()), Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "sample.json", b.Bytes())
	d, err := Read(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, format string
		o            Options
	}{
		{"sample.md", "markdown", Options{}},
		{"sample.html", "html", Options{}},
		{"sample.junit.xml", "junit", Options{}},
		{"sample.80.txt", "text", Options{Width: 80, Dir: "runs/r1", Files: []string{"report.md", "report.html"}}},
		{"sample.brief.80.txt", "text", Options{Width: 80, Brief: true, Dir: "runs/r1"}},
		{"sample.80.colour.txt", "text", Options{Width: 80, Color: true}},
		{"sample.200.txt", "text", Options{Width: 200, Dir: "runs/r1", Files: []string{"report.md", "report.html"}}},
	} {
		var b bytes.Buffer
		if err := Render(&b, c.format, d, c.o); err != nil {
			t.Fatal(err)
		}
		golden(t, c.file, b.Bytes())
	}
}
