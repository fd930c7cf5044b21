// Command trim cuts the clouds' models down to the calls of calls.txt. It is run
// in the project's folder; package model says how.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode/lab/door/model"
)

func main() {
	botocore := flag.String("botocore", "", "folder of the Python package botocore; empty: AWS's models stay as they are")
	home := flag.String("home", "lab/door/model", "folder of calls.txt and models/")
	flag.Parse()
	if err := run(*botocore, *home); err != nil {
		fmt.Fprintln(os.Stderr, "trim:", err)
		os.Exit(1)
	}
}

// service is one API of a cloud, as a line of calls.txt begins with it.
type service struct{ cloud, name string }

func run(botocore, home string) error {
	calls, err := readCalls(filepath.Join(home, "calls.txt"))
	if err != nil {
		return err
	}
	for s, names := range calls {
		if s.cloud == "aws" && botocore == "" {
			continue
		}
		small, err := s.trim(botocore, names)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := os.WriteFile(s.file(home), small, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (s service) file(home string) string {
	return filepath.Join(home, "models", s.cloud, s.name+".json")
}

// readCalls returns the names of the calls.
func readCalls(path string) (map[service][]string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	calls := map[service][]string{}
	for line := range strings.Lines(string(raw)) {
		word := strings.Fields(line)
		switch {
		case len(word) == 0 || word[0] == "#":
		case len(word) == 3:
			s := service{word[0], word[1]}
			calls[s] = append(calls[s], word[2])
		default:
			return nil, fmt.Errorf("%s: %q, want a cloud, a service and a call", path, line)
		}
	}
	return calls, nil
}

func (s service) trim(botocore string, calls []string) ([]byte, error) {
	if s.cloud == "google" {
		full, err := s.fromModule()
		if err != nil {
			return nil, err
		}
		return model.TrimGoogle(full, calls)
	}
	full, err := newest(filepath.Join(botocore, "data", s.name, "*", "service-2.json*"))
	if err != nil {
		return nil, err
	}
	return model.TrimAWS(full, calls)
}

// fromModule reads the API's document in the module that go.mod names.
func (s service) fromModule() ([]byte, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "google.golang.org/api").Output()
	if err != nil {
		return nil, err
	}
	return newest(filepath.Join(strings.TrimSpace(string(dir)), s.name, "v[0-9]", s.name+"-api.json"))
}

// newest reads the last of the files, which are named after versions.
func newest(pattern string) ([]byte, error) {
	versions, err := filepath.Glob(pattern)
	if err != nil || len(versions) == 0 {
		return nil, errors.Join(errors.New("no model is "+pattern), err)
	}
	return readFile(slices.Max(versions))
}

// readFile unpacks what newer versions of botocore have packed.
func readFile(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return raw, err
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
