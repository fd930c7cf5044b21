package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"

	"github.com/antipode-bench/antipode/analysis"
)

//go:embed dist/page.js
var script string

//go:embed dist/page.css
var style string

//go:embed dist/LICENSES.txt
var licences string

// Input is what a page is made of.
type Input struct {
	Title   string // for people: what was measured, or the files' names
	Version string // of antipode
	Data    *analysis.Data
	Report  *analysis.Report
}

// Write writes the page, the same bytes for the same input. It asks the network
// for nothing: its policy forbids all but the script and the style that it holds.
func Write(w io.Writer, in Input) error {
	if err := write(w, in); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

func write(w io.Writer, in Input) error {
	b := bufio.NewWriter(w)
	open(b, in.Title)
	if err := body(b, in); err != nil {
		return err
	}
	blocks, err := blocksOf(in)
	if err != nil {
		return err
	}
	for _, block := range blocks {
		fmt.Fprintf(b, "<script type=\"text/plain\" id=\"%s\">%s</script>\n", block.id, block.text)
	}
	fmt.Fprintf(b, "<script>%s</script>\n</body>\n</html>\n", script)
	return b.Flush()
}

// open writes the head. The policy goes first, so that it holds for all of it.
func open(b *bufio.Writer, title string) {
	policy := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
		hash(script), hash(style))
	fmt.Fprintf(b, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="antipode">
<link rel="icon" href="data:,">
<title>%s</title>
<style>%s</style>
</head>
`, policy, html.EscapeString(title), style)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
