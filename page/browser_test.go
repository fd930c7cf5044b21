package page_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/antipode-bench/antipode/page"
)

// starting is how long a browser may take on a busy machine; showing, a page.
const (
	starting = 60 * time.Second
	showing  = 2 * time.Minute
)

// tab is a page, and what it did that it should not have.
type tab struct {
	context.Context
	t        testing.TB
	mu       sync.Mutex
	requests []string // all but the page's own file
	errors   []string
}

// chromium is the browser, or the test is over: where CI is set that is a failure.
func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no chromium here; CI needs it (Debian: apt-get install chromium)")
	}
	t.Skip("no chromium here: the page is not tested in a browser (Debian: apt-get install chromium)")
	return ""
}

// show opens the page of in and waits until all of it is painted.
func show(t testing.TB, in page.Input, width, height int, scheme string) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(writeOnce(t, in)), 0o644); err != nil {
		t.Fatal(err)
	}
	w := newTab(t)
	w.do(chromedp.EmulateViewport(int64(width), int64(height)))
	tell(w, network.Enable, network.EnableParams{})
	tell(w, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	w.open(file)
	return w
}

// browser is the only one of all tests, since to start one takes longer than most
// of them do; nil until a test needs it.
var browser context.Context

func TestMain(m *testing.M) {
	code := m.Run()
	if browser != nil {
		// Not with the last breath: a browser that is asked to end takes its files with it.
		ctx, cancel := context.WithTimeout(browser, starting)
		if err := chromedp.Cancel(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "end chromium:", err)
		}
		cancel()
	}
	os.Exit(code)
}

// startBrowser makes it, or the test is over.
func startBrowser(t testing.TB) {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.Flag("force-color-profile", "srgb"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, _ := chromedp.NewExecAllocator(context.Background(), options...)
	browser, _ = chromedp.NewContext(allocated) // both end with TestMain
	ctx := browser
	// The first Run starts the browser, and has no limit of its own. A context with
	// one would end the browser with it.
	started := make(chan error, 1)
	go func() { started <- chromedp.Do(ctx) }()
	select {
	case err := <-started:
		if err != nil {
			t.Fatalf("start chromium: %v", err)
		}
	case <-time.After(starting):
		t.Fatalf("chromium did not start within %v", starting)
	}
}

// newTab is an empty page that shares nothing with those of other tests.
func newTab(t testing.TB) *tab {
	t.Helper()
	if browser == nil {
		startBrowser(t)
	}
	w := &tab{t: t}
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext(), chromedp.WithListener(w.watch))
	t.Cleanup(end)
	w.Context = ctx
	w.must(chromedp.Do(ctx)) // makes the tab, which would end with a context that ends
	return w
}

func (w *tab) watch(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file://") && !strings.HasPrefix(e.Request.URL, "data:") {
			w.requests = append(w.requests, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text += " " + thrown.Description
		}
		w.errors = append(w.errors, text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			for _, a := range e.Args {
				w.errors = append(w.errors, string(a.Value)+a.Description)
			}
		}
	case *log.EventEntryAdded: // such as what the policy forbade
		w.errors = append(w.errors, e.Entry.Text)
	}
}

// open waits until the page says that it is painted.
func (w *tab) open(file string) {
	w.t.Helper()
	address := url.URL{Scheme: "file", Path: file}
	w.do(chromedp.Navigate(address.String()), chromedp.WaitReady("html[data-ready]"))
}

// reload opens the page anew and returns the ms until it was painted.
func (w *tab) reload() float64 {
	w.t.Helper()
	w.do(chromedp.Reload(), chromedp.WaitReady("html[data-ready]"))
	return ask[float64](w, `Number(document.documentElement.dataset.ready)`)
}

// do ends the test when an action fails or takes too long.
func (w *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w, showing)
	defer cancel()
	w.must(chromedp.Do(ctx, actions...))
}

func (w *tab) must(err error) {
	w.t.Helper()
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.t.Fatalf("%v; the page's errors: %q", err, w.errors)
	}
}

// get is do for an action that answers.
func get[T any](w *tab, action chromedp.Action[T]) T {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w, showing)
	defer cancel()
	answer, err := chromedp.Run(ctx, action)
	w.must(err)
	return answer
}

func tell[P, R any](w *tab, command cdp.Command[P, R], params P) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w, showing)
	defer cancel()
	_, err := chromedp.Call(ctx, command, params)
	w.must(err)
}

// ask evaluates an expression of the page, waiting for a promise.
func ask[T any](w *tab, expression string) T {
	w.t.Helper()
	return get(w, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// quiet is an error for each request and each complaint.
func (w *tab) quiet() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.requests {
		w.t.Errorf("the page asked for %s", r)
	}
	for _, e := range w.errors {
		w.t.Errorf("the page complained: %s", e)
	}
}
