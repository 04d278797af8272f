package ollamad

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/fabriccore/assay/runner/progress"
)

// realConfig is the configuration of the tests with a real server. They build
// one in the cache folder if need be, which takes minutes the first time.
func realConfig(t *testing.T) Config {
	t.Helper()
	if os.Getenv("ASSAY_TEST_OLLAMA") != "1" {
		t.Skip("skipped: a real Ollama server (set ASSAY_TEST_OLLAMA=1; the first run builds one, about 3 minutes on 2 cores)")
	}
	return envConfig(executable(t))
}

func envConfig(exe string) Config {
	home, _ := os.UserCacheDir()
	env := environment()
	// An installed or running server is another test's subject.
	delete(env, "OLLAMA_HOST")
	return Config{Env: env, CacheDir: DefaultCacheDir(os.Getenv, home), Executable: exe, DefaultURL: "-"}
}

func ensureReal(t *testing.T) *Server {
	t.Helper()
	cfg := realConfig(t)
	server, err := Ensure(t.Context(), cfg, progress.Plain(os.Stderr, 15*time.Second, time.Now))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		if err := server.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%s %s at %s", server.Origin, server.Version, server.URL)
	return server
}

func realModels(t *testing.T, server *Server, names ...string) []Model {
	t.Helper()
	began := time.Now()
	models, err := EnsureModels(t.Context(), server, names, progress.Plain(os.Stderr, 15*time.Second, time.Now))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("models in %v", time.Since(began))
	for _, model := range models {
		if e := lookUp(model.Name); server.Version == Version && model.Digest != e.manifest {
			t.Errorf("%s has digest %s, pinned is %s", model.Tag, model.Digest, e.manifest)
		}
	}
	return models
}

// chat asks one schema-constrained question and returns the answer.
func chat(ctx context.Context, server *Server, tag string) (content string, err error) {
	stream := false
	request := &api.ChatRequest{
		Model: tag, Stream: &stream,
		Messages: []api.Message{{Role: "user", Content: "Which one?"}},
		Format:   json.RawMessage(`{"type":"object","properties":{"class":{"type":"string","enum":["red","blue"]}},"required":["class"]}`),
		Options:  map[string]any{"num_thread": 1, "num_ctx": 512, "num_predict": 64, "seed": 1, "temperature": 0},
	}
	err = server.Client().Chat(ctx, request, func(r api.ChatResponse) error {
		content += r.Message.Content
		return nil
	})
	return content, err
}

func TestRealTiny(t *testing.T) {
	server := ensureReal(t)
	if server.Origin != Installed && server.Version != Version {
		t.Errorf("version %q, want %q", server.Version, Version)
	}
	first := realModels(t, server, "tiny")
	if len(first) != 1 || first[0].Tag != "assay-tiny:1" || len(first[0].Digest) != 64 {
		t.Fatalf("%+v", first)
	}
	content, err := chat(t.Context(), server, first[0].Tag)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Class string }
	if err := json.Unmarshal([]byte(content), &answer); err != nil || answer.Class != "red" && answer.Class != "blue" {
		t.Errorf("answer %q: %v", content, err)
	}

	// The second time there is nothing to do.
	r := &recorder{}
	second, err := EnsureModels(t.Context(), server, []string{"tiny"}, r)
	if err != nil {
		t.Fatal(err)
	}
	if second[0] != first[0] || len(r.all()) != 0 {
		t.Errorf("again: %+v, shown %q", second[0], r.all())
	}
}

func TestRealWeights(t *testing.T) {
	if os.Getenv("ASSAY_TEST_WEIGHTS") != "1" {
		t.Skip("skipped: downloading 180 MB of real weights (set ASSAY_TEST_WEIGHTS=1 and ASSAY_TEST_OLLAMA=1)")
	}
	server := ensureReal(t)
	models := realModels(t, server, "smollm2", "minilm")
	content, err := chat(t.Context(), server, models[0].Tag)
	if err != nil || !json.Valid([]byte(content)) {
		t.Errorf("%q: %v", content, err)
	}
	embedded, err := server.Client().Embed(t.Context(), &api.EmbedRequest{Model: models[1].Tag, Input: []string{"a disk is full", "no space left on device"}})
	if err != nil || len(embedded.Embeddings) != 2 || len(embedded.Embeddings[0]) != 384 {
		t.Errorf("embedding: %v, %v", embedded, err)
	}
	r := &recorder{}
	if _, err := EnsureModels(t.Context(), server, []string{"smollm2", "minilm"}, r); err != nil || len(r.all()) != 0 {
		t.Errorf("again: %v, shown %q", err, r.all())
	}
}

// holdMain is an assay that has a server and a loaded model, says so, and waits
// to be killed.
func holdMain() int {
	exe, _ := os.Executable()
	ctx := context.Background()
	server, err := Ensure(ctx, envConfig(exe), progress.Discard())
	if err == nil {
		_, err = EnsureModels(ctx, server, []string{"tiny"}, progress.Discard())
	}
	if err == nil {
		_, err = chat(ctx, server, Tag("tiny"))
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("holding", server.PID)
	select {}
}

func TestRealKillNine(t *testing.T) {
	cfg := realConfig(t)
	assay := exec.Command(cfg.Executable, "__hold")
	out, err := assay.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := assay.Start(); err != nil {
		t.Fatal(err)
	}
	defer assay.Wait()
	defer assay.Process.Kill()
	line, _ := bufio.NewReader(out).ReadString('\n')
	var group int
	if _, err := fmt.Sscanf(line, "holding %d", &group); err != nil {
		t.Fatalf("assay said %q", line)
	}
	if n := len(groupMembers(t, group)); n < 2 {
		t.Fatalf("%d processes in the group, want the server and a runner", n)
	}
	if err := assay.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * gracePeriod); ; time.Sleep(20 * time.Millisecond) {
		left := groupMembers(t, group)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still running: %v", left)
		}
	}
}

// groupMembers lists the living processes of a process group.
func groupMembers(t *testing.T, group int) (members []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("skipped: process groups can only be listed through /proc")
	}
	for _, entry := range entries {
		data, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue
		}
		// pid (name) state ppid pgrp …; the name may hold spaces.
		head, tail, ok := strings.Cut(string(data), ") ")
		fields := strings.Fields(tail)
		if ok && len(fields) > 2 && fields[0] != "Z" && fields[2] == fmt.Sprint(group) {
			members = append(members, head)
		}
	}
	return members
}
