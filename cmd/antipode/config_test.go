package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// sweepCommand has the flags of a sweep, parsed as from a command line.
func sweepCommand(t *testing.T, args ...string) (*sweepFlags, *cobra.Command) {
	t.Helper()
	f, cmd := defaultSweepFlags(), &cobra.Command{Use: "sweep"}
	f.register(cmd)
	if err := cmd.Flags().Parse(args); err != nil {
		t.Fatal(err)
	}
	return f, cmd
}

func TestConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sweep.yaml")
	text := "# ours\nclouds: [aws, gcp]\nregions: aws:us-east-1\nduration: 5s\nbytes: 10MB\nstreams: 4\none-way: true\nlab: true\n" +
		"machine-type: [aws=t3.micro, gcp=e2-medium]\ntag: team=net\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, cmd := sweepCommand(t, "--config", file, "--streams", "2")
	if err := readConfig(cmd.Flags()); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range []string{"clouds", "regions", "duration", "bytes", "streams", "one-way", "lab", "tag"} {
		flag := cmd.Flags().Lookup(name)
		if got[name] = flag.Value.String(); !flag.Changed {
			t.Errorf("--%s is not set", name)
		}
	}
	for name, want := range map[string]string{"clouds": "[aws,gcp]", "regions": "[aws:us-east-1]", "duration": "5s", "bytes": "10000000",
		"streams": "2", "one-way": "true", "lab": ownLab, "tag": "team=net"} {
		if got[name] != want {
			t.Errorf("--%s is %q, want %q", name, got[name], want)
		}
	}
	if types := f.machines.preferences; types["aws"][0] != "t3.micro" || types["gcp"][0] != "e2-medium" {
		t.Errorf("machine types %v", types)
	}
}

// TestBadConfigs: one file for each thing that can be wrong, named with its line.
func TestBadConfigs(t *testing.T) {
	for name, want := range map[string]string{
		"unknown.yaml":  `unknown.yaml:2: unknown key "regoin", the nearest is regions`,
		"twice.yaml":    `twice.yaml:3: key "streams" is there twice`,
		"value.yaml":    `value.yaml:1: duration: "soon"`,
		"list.yaml":     "list.yaml:1: streams: want one value",
		"mapping.yaml":  "mapping.yaml:1: regions: want a value or a list of values",
		"nested.yaml":   "nested.yaml:1: clouds: an item of the list is no plain value",
		"sequence.yaml": "sequence.yaml:1: the file must be a mapping",
		"empty.yaml":    "empty.yaml:1: prices: want one value",
		"now.yaml":      `now.yaml:1: unknown key "yes"`, // that must be said each time
		"broken.yaml":   "broken.yaml:",
		"none.yaml":     "--config: open",
	} {
		t.Run(name, func(t *testing.T) {
			_, cmd := sweepCommand(t, "--config", filepath.Join("testdata", "config", name))
			if err := readConfig(cmd.Flags()); err == nil || !strings.Contains(err.Error(), want) || exitCode(err) != exitUsage {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// TestInit: what is written is a sweep, has every flag that can be set, and what
// its comments say can be set so.
func TestInit(t *testing.T) {
	t.Chdir(t.TempDir())
	for i, want := range []string{"", "sweep.yaml is there already"} {
		root := newRoot()
		root.SetArgs([]string{"init"})
		root.SetOut(new(bytes.Buffer))
		if err := root.Execute(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Fatalf("init, time %d: %v, want %q", i+1, err, want)
		}
	}
	_, cmd := sweepCommand(t, "--config", configFile)
	if err := readConfig(cmd.Flags()); err != nil || cmd.Flags().Lookup("max-regions").Value.String() != "6" {
		t.Errorf("the written file: %v", err)
	}
	data, err := os.ReadFile(configFile)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range regexp.MustCompile(`(?m)^(?:# )?([a-z0-9-]+): (\S.*)$`).FindAllStringSubmatch(string(data), -1) {
		flag := cmd.Flags().Lookup(m[1])
		if flag == nil {
			continue // a sentence of the comments
		}
		if named = append(named, m[1]); m[2] == `""` || m[2] == "[]" {
			continue
		}
		if err := os.WriteFile("one.yaml", []byte(m[1]+": "+m[2]+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, one := sweepCommand(t, "--config", "one.yaml")
		if err := readConfig(one.Flags()); err != nil {
			t.Errorf("the comment's %q can't be set: %v", m[0], err)
		}
	}
	var want []string
	for _, f := range configurable(cmd.Flags()) {
		want = append(want, f.Name)
	}
	if !slices.Equal(named, want) {
		t.Errorf("the file names %v\nwant %v", named, want)
	}
	for _, name := range unconfigured {
		if slices.Contains(named, name) {
			t.Errorf("%s can be set", name)
		}
	}
}
