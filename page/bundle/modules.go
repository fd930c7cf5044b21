package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// axe checks the page's accessibility in a test; it is in no page.
const axe = "axe-core/axe.min.js"

// packModules puts the files of npm packages that the page is made of into the
// archive, with what esbuild asks packages about and their licences: a fraction
// of the packages.
func packModules(page, modules string) error {
	modules, err := filepath.Abs(modules)
	if err != nil {
		return err
	}
	names, err := used(page, modules)
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(page, archive))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := writeArchive(file, modules, names); err != nil {
		return err
	}
	return file.Close()
}

// used lists files below modules, sorted.
func used(page, modules string) ([]string, error) {
	script, err := bundle(page, "main.js", modules)
	if err != nil {
		return nil, err
	}
	var meta struct{ Inputs map[string]any }
	if err := json.Unmarshal([]byte(script.metaJ), &meta); err != nil {
		return nil, err
	}
	names := map[string]bool{axe: true}
	packages := map[string]bool{"axe-core": true}
	for input := range meta.Inputs {
		at := strings.LastIndex(input, "node_modules/")
		if at < 0 {
			continue
		}
		name := input[at+len("node_modules/"):]
		names[name] = true
		packages[strings.SplitN(name, "/", 2)[0]] = true
	}
	for p := range packages {
		if err := addAbout(modules, p, names); err != nil {
			return nil, err
		}
	}
	var sorted []string
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted, nil
}

// addAbout adds a package's descriptions and licences.
func addAbout(modules, name string, names map[string]bool) error {
	return filepath.WalkDir(filepath.Join(modules, name), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if e.Name() == "package.json" || isLicence(e.Name()) {
			relative, err := filepath.Rel(modules, path)
			if err != nil {
				return err
			}
			names[filepath.ToSlash(relative)] = true
		}
		return nil
	})
}

// writeArchive makes the same bytes of the same files: no times, no owners.
func writeArchive(w io.Writer, modules string, names []string) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(modules, name))
		if err != nil {
			return err
		}
		if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

// unpack writes the archive's files into a folder.
func unpack(archive, folder string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("%s: %q is outside of the folder", archive, h.Name)
		}
		if err := writeFile(filepath.Join(folder, h.Name), t); err != nil {
			return err
		}
	}
}

func writeFile(path string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
