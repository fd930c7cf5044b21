package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestShots paints the page as a picture and on paper, light and dark. Where SHOTS
// names a folder they stay there, for people to look at.
func TestShots(t *testing.T) {
	folder := os.Getenv("SHOTS")
	if folder == "" {
		folder = t.TempDir()
	}
	for _, scheme := range []string{"light", "dark"} {
		w := show(t, whole(), 1280, 900, scheme)
		for name, picture := range map[string][]byte{
			scheme + ".png": get(w, chromedp.FullScreenshot(100)),
			scheme + ".pdf": get(w, chromedp.PrintToPDF(chromedp.PDFPrintBackground(), chromedp.PDFPaper(chromedp.PaperA4))),
		} {
			if len(picture) < 50_000 {
				t.Errorf("%s: %d bytes", name, len(picture))
			}
			if err := os.WriteFile(filepath.Join(folder, name), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		w.quiet()
	}
}
