package antipode

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// One broken file for each rule: all are refused, and the golden file holds
// what is said about each.
func TestParseRegionsRefuses(t *testing.T) {
	paths, err := filepath.Glob("testdata/regions/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no broken files: %v", err)
	}
	var got strings.Builder
	for _, path := range paths {
		regions, err := LoadRegions(path)
		if err == nil {
			t.Errorf("%s: parsed as %d regions, want an error", path, len(regions))
			continue
		}
		if !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%s: the error does not name the file: %v", path, err)
		}
		got.WriteString(err.Error() + "\n")
	}
	const golden = "testdata/regions/errors.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("errors differ from %s (-want +got):\n%s", golden, diff)
	}
}

func TestParseRegionsReportsEverythingAtOnce(t *testing.T) {
	const text = `regions:
- {cloud: aws, region: a, place: A, country: US, latitude: 91, longitude: 0, confidence: sure}
- {cloud: aws, region: b, place: B, country: US, latitude: 0, longitude: 0}
`
	const want = `r.yaml:2: confidence "sure" is not one of ["high" "medium" "low"]
r.yaml:2: latitude 91 is outside -90 to 90
r.yaml:3: a region lacks "confidence"`
	_, err := ParseRegions("r.yaml", []byte(text))
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadRegionsNamesTheMissingFile(t *testing.T) {
	_, err := LoadRegions("testdata/nowhere.yaml")
	if err == nil || !strings.Contains(err.Error(), "testdata/nowhere.yaml") {
		t.Errorf("err = %v, want the path in it", err)
	}
}

// Whatever is accepted obeys every rule, and whatever is refused says where.
func FuzzParseRegions(f *testing.F) {
	f.Add(regionsYAML)
	paths, _ := filepath.Glob("testdata/regions/*.yaml")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		regions, err := ParseRegions("fuzz", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz") || len(regions) > 0 {
				t.Errorf("ParseRegions = %v, %v", regions, err)
			}
			return
		}
		seen := make(map[string]bool)
		for _, r := range regions {
			if errs := r.check(); len(errs) > 0 {
				t.Errorf("accepted %+v: %v", r, errs)
			}
			if seen[r.ID()] {
				t.Errorf("accepted %s twice", r.ID())
			}
			seen[r.ID()] = true
		}
		if len(regions) == 0 {
			t.Error("accepted an empty file")
		}
	})
}
