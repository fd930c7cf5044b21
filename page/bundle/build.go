package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const archive = "bundle/modules.tgz" // in package page's folder

// build returns the files of dist by name.
func build(page string) (map[string][]byte, error) {
	modules, err := os.MkdirTemp("", "antipode-page-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(modules)
	if err := unpack(filepath.Join(page, archive), modules); err != nil {
		return nil, err
	}
	script, err := bundle(page, "main.js", modules)
	if err != nil {
		return nil, err
	}
	style, err := bundle(page, "page.css", modules)
	if err != nil {
		return nil, err
	}
	licences, err := licences(modules)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"page.js": script.code, "page.css": style.code, "LICENSES.txt": licences}, nil
}

type bundled struct {
	code  []byte
	metaJ string // esbuild's metafile
}

func bundle(page, entry, modules string) (bundled, error) {
	folder, err := filepath.Abs(filepath.Join(page, "web", "src"))
	if err != nil {
		return bundled{}, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: folder, EntryPoints: []string{entry}, NodePaths: []string{modules},
		Bundle: true, MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Format: api.FormatIIFE, Target: api.ES2022, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		Define: map[string]string{"process.env.NODE_ENV": `"production"`},
		Outdir: folder, Metafile: true,
	})
	var all []error
	for _, m := range result.Errors {
		where := ""
		if m.Location != nil {
			where = fmt.Sprintf("%s:%d: ", m.Location.File, m.Location.Line)
		}
		all = append(all, errors.New(where+m.Text))
	}
	if len(all) > 0 {
		return bundled{}, errors.Join(all...)
	}
	return bundled{safe(result.OutputFiles[0].Contents), result.Metafile}, nil
}

// safe keeps the code from ending the element of HTML that it stands in.
func safe(code []byte) []byte {
	code = bytes.ReplaceAll(code, []byte("</script"), []byte(`<\/script`))
	return bytes.ReplaceAll(code, []byte("<!--"), []byte(`<\!--`))
}

// licences puts together what the packages' licences ask to go with copies.
func licences(modules string) ([]byte, error) {
	var paths []string
	err := filepath.WalkDir(modules, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && isLicence(e.Name()) && !strings.Contains(path, "axe-core") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var b bytes.Buffer
	b.WriteString("Land outlines: Natural Earth, public domain.\n")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name, _ := filepath.Rel(modules, path)
		fmt.Fprintf(&b, "\n==== %s\n\n%s\n", filepath.ToSlash(name), bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
	}
	return b.Bytes(), nil
}

func isLicence(name string) bool {
	upper := strings.ToUpper(name)
	return strings.HasPrefix(upper, "LICENSE") || strings.HasPrefix(upper, "NOTICE")
}
