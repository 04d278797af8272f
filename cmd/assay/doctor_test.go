package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/fabriccore/assay/runner/ollamad"
)

// ollamaState is a process that knows one Ollama server and has no programs.
func ollamaState(t *testing.T, url string) (st *state, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return &state{
		Env: map[string]string{"PATH": t.TempDir(), "OLLAMA_HOST": url}, CacheDir: t.TempDir(),
		Stdout: stdout, Stderr: stderr, Now: time.Now, flags: globalFlags{format: "text"},
	}, stdout, stderr
}

// oneModel is a server with one model.
func oneModel(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/version":
		fmt.Fprint(w, `{"version":"0.17.4"}`)
	case "/api/tags":
		fmt.Fprintf(w, `{"models":[{"name":"llama3.2:3b","digest":%q,"size":2000000000}]}`, strings.Repeat("ab", 32))
	default:
		http.Error(w, `{"error":"pull model manifest: file does not exist"}`, http.StatusInternalServerError)
	}
}

func execute(c *cobra.Command, args ...string) error {
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	return c.Execute()
}

func TestDoctorCommand(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(oneModel))
	defer server.Close()
	st, stdout, _ := ollamaState(t, server.URL)
	st.flags.format = "json"
	err := execute(newDoctorCommand(st))
	var checks []ollamad.Check
	if jsonErr := json.Unmarshal(stdout.Bytes(), &checks); jsonErr != nil || len(checks) < 10 {
		t.Fatalf("%v: %s", jsonErr, stdout)
	}
	// The models are not there and nothing is that could get them.
	if exitCode(err) != exitInfra || err.Error() != "" {
		t.Errorf("exit %d, %v", exitCode(err), err)
	}

	st, stdout, _ = ollamaState(t, server.URL)
	st.Width = 140
	_ = execute(newDoctorCommand(st))
	for _, want := range []string{"ok        ollama server", "missing   python3", "missing python3: install python3"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is missing in\n%s", want, stdout)
		}
	}
}

func TestModelsCommand(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(oneModel))
	defer server.Close()
	st, stdout, _ := ollamaState(t, server.URL)
	st.Width = 140 // narrower, cells are wrapped
	if err := execute(newModelsCommand(st), "list"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"llama3.2:3b", "abababababab", "assay-smollm2:1", "not there yet"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is missing in\n%s", want, stdout)
		}
	}

	st, stdout, _ = ollamaState(t, server.URL)
	st.flags.format = "json"
	if err := execute(newModelsCommand(st), "pull", "llama3.2:3b"); err != nil {
		t.Fatal(err)
	}
	var listed []listedModel
	if err := json.Unmarshal(stdout.Bytes(), &listed); err != nil || len(listed) != 1 || listed[0].Bytes != 2_000_000_000 {
		t.Errorf("%v: %s", err, stdout)
	}

	st, _, _ = ollamaState(t, server.URL)
	if err := execute(newModelsCommand(st), "pull", "nosuch:1b"); !errors.Is(err, ollamad.ErrUnavailable) {
		t.Errorf("exit %d, %v", exitCode(err), err)
	}
	if err := execute(newModelsCommand(st), "pull"); exitCode(err) != exitUsage {
		t.Errorf("exit %d, %v", exitCode(err), err)
	}

	server.Close()
	if err := execute(newModelsCommand(st), "list"); !errors.Is(err, ollamad.ErrUnavailable) {
		t.Errorf("a named server that does not answer: %v", err)
	}
}
