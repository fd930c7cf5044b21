package page_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/page"
)

// written are the pages of large worlds, which take seconds to compress.
var written = map[*analysis.Data]string{}

// writeOnce is write for who shows a page: the same rows make the same page.
func writeOnce(t testing.TB, in page.Input) string {
	t.Helper()
	if written[in.Data] == "" {
		written[in.Data] = write(t, in)
	}
	return written[in.Data]
}

func write(t testing.TB, in page.Input) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A page must fit into an e-mail.
func TestSizeOfThePage(t *testing.T) {
	for name, c := range map[string]struct {
		in   page.Input
		most int
	}{
		"with samples":    {whole(), 3_500_000},
		"without samples": {without(whole()), 1_200_000},
	} {
		if n := len(c.in.Data.Pairs); n != 5852 {
			t.Fatalf("%d pairs, want 5852", n)
		}
		got := len(writeOnce(t, c.in))
		t.Logf("%s: %d bytes", name, got)
		if got > c.most {
			t.Errorf("%s: %d bytes, want at most %d", name, got, c.most)
		}
	}
}

func without(in page.Input) page.Input {
	data := *in.Data
	data.Series = nil
	in.Data = &data
	return in
}

func TestPageIsTheSameEachTime(t *testing.T) {
	first, second := write(t, world(6, true)), write(t, world(6, true))
	if first != second {
		t.Error("the same rows make another page")
	}
}

// What a page shows may be from anybody.
func TestTextsAreText(t *testing.T) {
	in := world(3, true)
	const evil = `</script><script>alert(1)</script>"onload='x'&`
	in.Title = evil
	in.Report.Sources[0].Name = evil
	in.Report.Sentences = append(in.Report.Sentences, evil)
	got := write(t, in)
	if strings.Contains(got, "<script>alert(1)") {
		t.Error("text became an element")
	}
	if n := strings.Count(got, "<script"); n != 4 {
		t.Errorf("%d elements of script, want 3 of data and the bundle", n)
	}
	if !strings.Contains(got, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the page lacks the text")
	}
}

// Nothing in the page names a place that a browser would ask.
func TestNothingToFetch(t *testing.T) {
	got := write(t, world(3, false))
	if !strings.Contains(got, "default-src &#39;none&#39;") && !strings.Contains(got, "default-src 'none'") {
		t.Error("no policy that forbids the network")
	}
	if at := regexp.MustCompile(`(?i)<[^>]*\s(src|href)="(https?:)?//`).FindString(got); at != "" {
		t.Errorf("the page asks for %s", at)
	}
}
