package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// pages are what a newcomer reads and copies from.
var pages = []string{"README.md", "CONTRIBUTING.md", "docs/design.md", "docs/lab.md", "docs/measuring.md", "docs/money.md", "docs/reporting.md", "docs/results.md"}

// fence is a block of code: its language and what is in it.
type fence struct{ language, text string }

var fenced = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

func read(t *testing.T, page string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", page))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func fences(t *testing.T, page string) []fence {
	t.Helper()
	var all []fence
	for _, m := range fenced.FindAllStringSubmatch(read(t, page), -1) {
		all = append(all, fence{m[1], m[2]})
	}
	return all
}

// examples are the page's command lines that call antipode.
func examples(t *testing.T, page string) []string {
	t.Helper()
	var lines []string
	for _, f := range fences(t, page) {
		for line := range strings.Lines(f.text) {
			if strings.HasPrefix(line, "antipode ") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	return lines
}

// words are the arguments that a shell makes of a line.
func words(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `antipode() { printf '%s\n' "$@"; }; `+line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// TestExamples: every command line of the documentation is one that antipode
// understands, and every sweep names regions and pairs that there are.
func TestExamples(t *testing.T) {
	u := self(t)
	var seen int
	for _, page := range pages {
		for _, line := range examples(t, page) {
			seen++
			args := words(t, line)
			// With --help the flags are parsed, and nothing is done.
			path := "antipode " + args[0]
			if args[0] == "lab" {
				path += " " + args[1]
			}
			u.run(t, time.Minute, withHelp(args)...).want(t, 0, "Usage:\n  "+path)
			if args[0] == "sweep" && !strings.Contains(line, "--hosts") { // hosts are the reader's own
				// Without a lab, and with nobody to ask, it ends when it has found all its pairs.
				u.run(t, time.Minute, withoutLab(args)...).want(t, 2, "directed pair", "nobody is there to confirm")
			}
		}
	}
	if seen < 15 {
		t.Errorf("only %d examples: are they still found?", seen)
	}
}

// withHelp asks antipode for help, not the command that antipode is to run.
func withHelp(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return append(slices.Clone(args), "--help")
}

func withoutLab(args []string) (rest []string) {
	for i := 0; i < len(args); i++ {
		switch name, _, joined := strings.Cut(args[i], "="); {
		case name == "--lab":
		case strings.HasPrefix(name, "--lab-"), name == "--world":
			if !joined {
				i++ // its value
			}
		default:
			rest = append(rest, args[i])
		}
	}
	return rest
}

// TestLabExamples runs the examples that fit into seconds: with short tests, but
// otherwise as they stand, one page after the other in one folder. Those with a
// lab of their own run side by side at the end.
func TestLabExamples(t *testing.T) {
	t.Parallel()
	u := self(t)
	write(t, filepath.Join(u.dir, "world.yaml"), yamlWith(t, "docs/lab.md", "regions:"))
	write(t, filepath.Join(u.dir, "faults.yaml"), yamlWith(t, "docs/lab.md", "calls:"))
	t.Cleanup(func() { u.run(t, time.Minute, "lab", "down", "demo") }) // whatever happened before
	for _, page := range []string{"README.md", "docs/lab.md"} {
		for _, line := range examples(t, page) {
			args := words(t, line)
			small := strings.Contains(line, "--regions ") || strings.Contains(line, "--pairs ") || strings.Contains(line, "--max-regions 4")
			switch {
			case args[0] == "sweep" && strings.Contains(line, "--lab") && small:
				args = append(args, "--duration", "300ms", "--rtt-probes", "5")
			case args[0] == "regions", args[0] == "lab" && args[2] == "demo":
			default:
				continue
			}
			code := 0
			if strings.Contains(line, "--lab-faults") {
				code = 3 // as the page says
			}
			if slices.Contains(args, "--lab") { // a lab of its own: in nobody's way
				t.Run(line, func(t *testing.T) {
					t.Parallel()
					u.run(t, 2*time.Minute, args...).want(t, code)
				})
				continue
			}
			t.Log(line)
			u.run(t, 2*time.Minute, args...).want(t, code)
		}
	}
}

// yamlWith is the page's YAML that has the text.
func yamlWith(t *testing.T, page, text string) string {
	t.Helper()
	for _, f := range fences(t, page) {
		if f.language == "yaml" && strings.Contains(f.text, text) {
			return f.text
		}
	}
	t.Fatalf("%s has no YAML with %q", page, text)
	return ""
}

var (
	makes = regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)")
	links = regexp.MustCompile(`\]\(([^)#:]+)\)`)
)

// TestPagesNameWhatThereIs: targets of make, and files.
func TestPagesNameWhatThereIs(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, page := range pages {
		text := read(t, page)
		for _, m := range makes.FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).MatchString(makefile) {
				t.Errorf("%s: there is no %q", page, "make "+m[1])
			}
		}
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("..", filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if chart := read(t, "docs/images/all.svg"); !strings.Contains(chart, "Measured on the lab") {
		t.Error("the README's chart does not say that it is the lab's")
	}
}
