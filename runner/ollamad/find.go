package ollamad

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fabriccore/assay/runner/progress"
)

// Ensure returns a server that answers, in this order: the one the user named,
// one already running at Ollama's own address, an installed ollama, an earlier
// build, a new build. A server the user named is never replaced by another:
// where it does not answer, the error matches ErrUnavailable. The caller must
// Close the server.
func Ensure(ctx context.Context, cfg Config, report progress.Reporter) (*Server, error) {
	return find(ctx, cfg, report, true)
}

// Find is Ensure without the last resort: it starts what is there, but builds
// nothing.
func Find(ctx context.Context, cfg Config, report progress.Reporter) (*Server, error) {
	return find(ctx, cfg, report, false)
}

func find(ctx context.Context, cfg Config, report progress.Reporter, mayBuild bool) (*Server, error) {
	cfg = cfg.withDefaults()
	server, err := running(ctx, cfg)
	if server != nil || err != nil {
		return server, err
	}
	if err := cacheWritable(cfg); err != nil {
		return nil, err
	}
	if binary, ok := lookPath(cfg.Env["PATH"], "ollama"); ok {
		return start(ctx, cfg, binary, Installed, report)
	}
	target := serverTarget(cfg)
	if dir, ok := target.cached(cfg); ok {
		return start(ctx, cfg, filepath.Join(dir, "ollama"), Cached, report)
	}
	if !mayBuild {
		return nil, &Error{What: "no ollama server is running, installed or built", Do: "run `assay doctor` to see what is needed, or name a server with --ollama URL"}
	}
	dir, err := target.ensure(ctx, cfg, report)
	if err != nil {
		return nil, err
	}
	return start(ctx, cfg, filepath.Join(dir, "ollama"), Built, report)
}

// running looks for a server that somebody else started; nil and no error means
// that there is none and that the user named none.
func running(ctx context.Context, cfg Config) (*Server, error) {
	named, flag := cfg.URL, "--ollama"
	if named == "" {
		named, flag = cfg.Env["OLLAMA_HOST"], "OLLAMA_HOST"
	}
	if strings.TrimSpace(named) != "" {
		base, err := parseHost(named)
		if err != nil {
			return nil, &Error{What: flag + " is not an address", Where: named, Err: err, Do: "use the form http://HOST:PORT"}
		}
		version, err := probe(ctx, cfg.HTTP, base, 5*time.Second)
		if err != nil {
			return nil, &Error{
				What: "no ollama server answers at the address given by " + flag, Where: base, Err: err,
				Do: "start it with `ollama serve`, correct the address, or leave it out and assay starts its own",
			}
		}
		return &Server{URL: base, Version: version, Origin: Explicit, cfg: cfg}, nil
	}
	if cfg.DefaultURL == "-" {
		return nil, nil
	}
	version, err := probe(ctx, cfg.HTTP, cfg.DefaultURL, time.Second)
	if err != nil {
		return nil, ctx.Err()
	}
	return &Server{URL: cfg.DefaultURL, Version: version, Origin: Default, cfg: cfg}, nil
}

// parseHost reads an address in any form that OLLAMA_HOST allows: host, :port,
// host:port, or a URL. Unspecified addresses, which a server may listen on, are
// turned into loopback, which a client can call.
func parseHost(s string) (string, error) {
	s = strings.Trim(strings.TrimSpace(s), `"'`)
	bare := !strings.Contains(s, "://")
	if bare {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("unknown scheme %q", u.Scheme)
	}
	host, port := u.Hostname(), u.Port()
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		if bare {
			port = "11434"
		}
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port) + strings.TrimRight(u.Path, "/"), nil
}

// probe asks for the version, which only an Ollama server answers in this form.
func probe(ctx context.Context, client *http.Client, base string, patience time.Duration) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/version", nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", plainNetError(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return "", plainNetError(err)
	}
	var answer struct {
		Version string `json:"version"`
	}
	if response.StatusCode != http.StatusOK || json.Unmarshal(body, &answer) != nil || answer.Version == "" {
		return "", fmt.Errorf("something else than ollama answers there (%s)", response.Status)
	}
	return answer.Version, nil
}

// plainNetError drops the request line that net/http puts before the cause; the
// address is already in the message.
func plainNetError(err error) error {
	if wrapped, ok := err.(*url.Error); ok {
		return wrapped.Err
	}
	return err
}

// lookPath is exec.LookPath for a PATH that is not the process's own.
func lookPath(path, name string) (file string, ok bool) {
	for _, dir := range filepath.SplitList(path) {
		if dir == "" || !filepath.IsAbs(dir) {
			continue
		}
		file = filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, true
		}
	}
	return "", false
}

// cacheWritable creates the cache folder and proves that it can be written.
func cacheWritable(cfg Config) error {
	fail := func(err error) error {
		return &Error{What: "the cache folder cannot be written", Where: cfg.CacheDir, Err: bareError(err), Do: "free or unlock it, or choose another one with ASSAY_CACHE=DIR"}
	}
	if cfg.CacheDir == "" {
		return &Error{What: "there is no cache folder", Do: "set ASSAY_CACHE=DIR or HOME"}
	}
	if err := os.MkdirAll(cfg.CacheDir, 0o755); err != nil {
		return fail(err)
	}
	f, err := os.CreateTemp(cfg.CacheDir, ".probe-*")
	if err != nil {
		return fail(err)
	}
	_, err = f.WriteString("probe")
	f.Close()
	os.Remove(f.Name())
	if err != nil {
		return fail(err)
	}
	return nil
}

// bareError drops the operation and the path that the os package repeats.
func bareError(err error) error {
	switch e := err.(type) {
	case *os.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}
