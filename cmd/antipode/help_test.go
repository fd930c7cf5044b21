package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// helpOf is what `antipode args --help` prints.
func helpOf(t *testing.T, args ...string) string {
	t.Helper()
	var b bytes.Buffer
	root := newRoot()
	root.SetOut(&b)
	root.SetErr(&b)
	root.SetArgs(append(args, "--help"))
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// every visits cmd and all below it.
func every(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, c := range cmd.Commands() {
		every(c, visit)
	}
}

// TestHelp: every help fits a terminal, and shows nothing but words for people.
func TestHelp(t *testing.T) {
	every(newRoot(), func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		text := helpOf(t, path...)
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 100 {
				t.Errorf("%s --help: %d characters in a line: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, jargon := range []string{"stringToString", "[]", " int ", " string "} {
			if strings.Contains(text, jargon) {
				t.Errorf("%s --help says %q", cmd.CommandPath(), jargon)
			}
		}
		if !strings.Contains(text, "Usage:\n  antipode") {
			t.Errorf("%s --help has no usage:\n%s", cmd.CommandPath(), text)
		}
	})
}

func TestHelpOfSweep(t *testing.T) {
	text := helpOf(t, "sweep")
	for _, want := range []string{
		"\nWhich pairs:\n", "\nHow to measure:\n", "\nMachines and clouds:\n", "\nThe lab instead of the clouds:\n",
		"--lab[=NAME] ", "aws=t3.nano,gcp=e2-small)", "(default 10s)", "--streams N ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("sweep --help lacks %q:\n%s", want, text)
		}
	}
}

func TestMachineTypes(t *testing.T) {
	m := defaultMachineTypes()
	if err := m.Set("aws=c7gn.large"); err != nil || m.String() != "aws=c7gn.large,gcp=e2-small" {
		t.Errorf("got %v, %v", m, err)
	}
	if err := m.Set("gcp=c4a-standard-1,t2a-standard-1,aws=t4g.nano"); err != nil || m.String() != "aws=t4g.nano,gcp=c4a-standard-1,t2a-standard-1" {
		t.Errorf("got %v, %v", m, err)
	}
	if first, others := m.first(), m.others(); first["gcp"] != "c4a-standard-1" || len(others) != 1 || others["gcp"][0] != "t2a-standard-1" {
		t.Errorf("first %v, others %v", first, others)
	}
	for _, text := range []string{"", "t3.nano", "azure=b1", "aws=", "aws=t3 nano", "aws=t3.nano,", "aws=t3.nano,t3.nano", "aws=a,gcp=b,azure=c"} {
		if err := defaultMachineTypes().Set(text); err == nil {
			t.Errorf("Set(%q) succeeded", text)
		}
	}
}

func TestBesides(t *testing.T) {
	disk := errors.New("no space")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":      {nil, "<nil>"},
		"only that":    {fmt.Errorf("measure: %w", errInterrupted), "<nil>"},
		"another":      {fmt.Errorf("close: %w", disk), "close: no space"},
		"that and one": {errors.Join(fmt.Errorf("measure: %w", errInterrupted), disk), "no space"},
	} {
		if got := fmt.Sprint(besides(c.err, errInterrupted)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
