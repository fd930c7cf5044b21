package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const regenerate = "models/ is not what calls.txt asks for: make it anew (doc.go says how)"

// TestModelsAreCurrent: a line that is added to calls.txt, or a newer
// google.golang.org/api, asks for new models.
func TestModelsAreCurrent(t *testing.T) {
	calls, err := readCalls("../calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	for s, names := range calls {
		got, err := os.ReadFile(s.file(".."))
		if err != nil {
			t.Fatal(err)
		}
		if s.cloud == "google" {
			want, err := s.trim("", names)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s: %v", s.name, regenerate, err)
			}
			continue
		}
		// Which botocore there is, if any, depends on the machine.
		var model struct{ Operations map[string]any }
		if err := json.Unmarshal(got, &model); err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		if diff := cmp.Diff(names, slices.Sorted(maps.Keys(model.Operations))); diff != "" {
			t.Errorf("%s: %s:\n%s", s.name, regenerate, diff)
		}
	}
}
