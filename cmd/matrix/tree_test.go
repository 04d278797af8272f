package main

import (
	"bytes"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// textFiles calls f with every text file of the project, by its path from the
// root of the tree.
func textFiles(t *testing.T, f func(name string, data []byte)) {
	t.Helper()
	const root = "../.."
	seen := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		seen++
		f(filepath.ToSlash(name), data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Fatalf("only %d files seen: the walk went wrong", seen)
	}
}

// TestHonestNaming_F040: documents and page templates call the specialist
// autonomous only in the negative.
func TestHonestNaming_F040(t *testing.T) {
	documents := 0
	textFiles(t, func(name string, data []byte) {
		switch filepath.Ext(name) {
		case ".md", ".tmpl", ".html":
		default:
			return
		}
		documents++
		for _, s := range claims(string(data)) {
			t.Errorf("%s: %q", name, s)
		}
	})
	if documents < 5 {
		t.Errorf("only %d documents seen", documents)
	}
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?:;|]\s+|\n\s*\n|\n\s*[-*|#]`)
	claim       = regexp.MustCompile(`(?i)\bautonomous(ly)?\b`)
	negative    = regexp.MustCompile(`(?i)\b(not|never|no|nor|isn't|cannot|can't|without|unless|until)\b`)
)

// claims lists the sentences that call something autonomous and not in the
// negative.
func claims(text string) []string {
	var out []string
	for _, s := range sentenceEnd.Split(text, -1) {
		if claim.MatchString(s) && !negative.MatchString(s) {
			out = append(out, strings.Join(strings.Fields(s), " "))
		}
	}
	return out
}

func TestClaims(t *testing.T) {
	for text, want := range map[string]int{
		"It is a bounded Core Specialist, not autonomous.": 0,
		"It is never\ncalled autonomous.":                  0,
		"An autonomous specialist.":                        1,
		"It does not write. It works autonomously.":        1,
		"- no\n- autonomous":                               1,
		`"autonomy_claim": "bounded_core_specialist"`:      0,
	} {
		if got := claims(text); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// made-up places that tests and recorded logs may name.
var madeUp = strings.NewReplacer("/home/builder", "", "\"/home/c", "\"")

// TestNothingOfAMachine: no file carries a path or a package mirror of the
// machine it was written on.
func TestNothingOfAMachine(t *testing.T) {
	paths := regexp.MustCompile(`(^|[^A-Za-z0-9_.~-])(/` + `root/|/` + `home/[A-Za-z]|/` + `Users/[A-Za-z]|/` + `tmp/w)`)
	var hosts []string
	env, err := exec.Command("go", "env", "GOPROXY", "GONOSUMDB", "GOSUMDB").Output()
	if err != nil {
		t.Fatal(err)
	}
	settings := string(env)
	for _, name := range []string{"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "NPM_CONFIG_REGISTRY", "npm_config_registry", "HTTPS_PROXY", "https_proxy"} {
		settings += "," + os.Getenv(name)
	}
	for _, s := range strings.FieldsFunc(settings, func(r rune) bool { return r == ',' || r == '|' || unicode.IsSpace(r) }) {
		if u, err := url.Parse(s); err == nil && strings.Contains(u.Hostname(), ".") && !strings.HasPrefix(u.Hostname(), "127.") {
			hosts = append(hosts, u.Hostname())
		}
	}
	hosts = append(hosts, "proxy.golang"+".org", "pypi"+".org", "pythonhosted"+".org", "registry.npmjs"+".org")
	textFiles(t, func(name string, data []byte) {
		if filepath.Base(name) == "go.sum" {
			return
		}
		text := madeUp.Replace(string(data))
		if m := paths.FindStringIndex(text); m != nil {
			t.Errorf("%s: a machine's path: %q", name, text[max(0, m[0]-20):min(len(text), m[1]+30)])
		}
		for _, h := range hosts {
			if strings.Contains(text, h) {
				t.Errorf("%s: the host of a registry: %s", name, h)
			}
		}
	})
}

var link = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// TestLinks: every relative link of a Markdown file leads somewhere, headings
// included.
func TestLinks(t *testing.T) {
	links := 0
	textFiles(t, func(name string, data []byte) {
		if filepath.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			return
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: link %q: %v", name, m[1], err)
				continue
			}
			if u.Scheme != "" {
				continue
			}
			links++
			to := name
			if u.Path != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(name), u.Path))
			}
			target := filepath.Join("../..", to)
			info, err := os.Stat(target)
			if err != nil {
				t.Errorf("%s: link %q leads nowhere", name, m[1])
				continue
			}
			if u.Fragment == "" || info.IsDir() {
				continue
			}
			page, err := os.ReadFile(target)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(anchors(string(page)), " "+u.Fragment+" ") {
				t.Errorf("%s: link %q: %s has no such heading", name, m[1], to)
			}
		}
	})
	if links < 10 {
		t.Errorf("only %d relative links seen", links)
	}
}

// anchors lists the names of a page's headings, each between blanks.
func anchors(page string) string {
	out := " "
	for _, l := range strings.Split(page, "\n") {
		if !strings.HasPrefix(l, "#") {
			continue
		}
		out += strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(strings.TrimLeft(l, "#"))) + " "
	}
	return out
}
