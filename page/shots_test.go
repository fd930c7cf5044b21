package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/antipode-bench/antipode/page"
)

// mostPaper is how large a page on paper may be, to go with an e-mail.
const mostPaper = 8_000_000

// TestShots paints the page as a picture and on paper. Where SHOTS names a folder
// they stay there, for people to look at.
func TestShots(t *testing.T) {
	for name, c := range map[string]struct {
		in     page.Input
		width  int
		scheme string
		deed   string
	}{
		"light":      {world(45, true), 1280, "light", ""},
		"dark":       {world(24, true), 1280, "dark", ""},
		"pair-light": {world(6, true), 1280, "light", opened},
		"pair-dark":  {world(6, true), 1280, "dark", opened},
		"small":      {world(6, true), 1280, "light", ""},
		"phone":      {world(12, true), 390, "light", ""},
		"one-region": {world(24, true), 1280, "light", `choose("#map select", "from:2"); choose("#matrix select", "bps")`},
	} {
		t.Run(name, func(t *testing.T) {
			w := show(t, c.in, c.width, 900, c.scheme)
			w.timed(c.deed)
			if c.deed == opened {
				keep(t, name+".png", get(w, chromedp.CaptureScreenshot()))
			} else {
				keep(t, name+".png", get(w, chromedp.FullScreenshot(100)))
			}
			paper := get(w, chromedp.PrintToPDF(chromedp.PDFPrintBackground(), chromedp.PDFPaper(chromedp.PaperA4)))
			if keep(t, name+".pdf", paper); len(paper) > mostPaper {
				t.Errorf("%d bytes on paper, want at most %d", len(paper), mostPaper)
			}
			w.quiet()
		})
	}
}

const opened = `document.querySelector('#pairs tbody button').click(); await ` + shown

func keep(t *testing.T, name string, picture []byte) {
	t.Helper()
	if len(picture) < 20_000 {
		t.Errorf("%s: %d bytes: nothing is painted", name, len(picture))
	}
	if folder := os.Getenv("SHOTS"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
