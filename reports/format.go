package reports

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// Options shape a rendering; they never change what it says.
type Options struct {
	Width int  // columns of a terminal; 0 = 80
	Color bool // ANSI colours
	Brief bool // text only: the short form that ends a run
	// Dir and Files say where the report's files are, for a terminal's last
	// lines; Dir alone means all of them. They are never part of a file.
	Dir   string
	Files []string
}

// Format is one way to render a document.
type Format struct {
	Name   string
	Ext    string // ".md", as `-o FILE` selects it
	File   string // its name in a run folder; "" = not written there
	About  string
	Render func(io.Writer, Document, Options) error
}

// formats is the registry: a new format is one file and one line here. The
// order is the one in which WriteAll writes; the truth comes first.
var formats = []Format{
	formatJSON,
	formatMarkdown,
	formatHTML,
	formatJUnit,
	formatText,
}

// Formats lists the known formats.
func Formats() []Format { return append([]Format(nil), formats...) }

// Lookup finds a format by name.
func Lookup(name string) (Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("format %q is not known: give one of %s", name, known(func(f Format) string { return f.Name }))
}

// ForPath finds the format of a file name by its extension.
func ForPath(path string) (Format, error) {
	ext := strings.ToLower(filepath.Ext(path))
	for _, f := range formats {
		if f.Ext == ext {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("%s: no report format has the extension %q: use one of %s",
		filepath.Base(path), ext, known(func(f Format) string { return f.Ext }))
}

func known(of func(Format) string) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = of(f)
	}
	return strings.Join(names, ", ")
}

// Render writes d in the format. All but JSON get a harmless copy.
func (f Format) render(w io.Writer, d Document, o Options) error {
	if f.Name != formatJSON.Name {
		d = harmless(d)
	}
	if o.Dir != "" && o.Files == nil {
		for _, g := range formats {
			if g.File != "" {
				o.Files = append(o.Files, g.File)
			}
		}
	}
	if err := f.Render(w, d, o); err != nil {
		return fmt.Errorf("render %s report: %w", f.Name, err)
	}
	return nil
}

// Render writes d to w in the named format ("json", "markdown", "html",
// "junit", "text").
func Render(w io.Writer, name string, d Document, o Options) error {
	f, err := Lookup(name)
	if err != nil {
		return err
	}
	return f.render(w, d, o)
}

// Terminal writes the text report.
func Terminal(w io.Writer, d Document, o Options) error { return formatText.render(w, d, o) }

// Write writes d to path in the format of its extension. The file appears
// whole or not at all.
func Write(path string, d Document) error {
	f, err := ForPath(path)
	if err != nil {
		return err
	}
	return f.write(path, d)
}

// WriteAll writes every format that has a file name in a run folder, and
// returns the names.
func WriteAll(dir string, d Document) ([]string, error) {
	var names []string
	for _, f := range formats {
		if f.File == "" {
			continue
		}
		if err := f.write(filepath.Join(dir, f.File), d); err != nil {
			return names, err
		}
		names = append(names, f.File)
	}
	return names, nil
}

func (f Format) write(path string, d Document) error {
	var b bytes.Buffer
	if err := f.render(&b, d, Options{Width: fileWidth}); err != nil {
		return err
	}
	if err := renameio.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// fileWidth is the width of a text report that goes to a file.
const fileWidth = 100
