package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
)

func TestParseFaults(t *testing.T) {
	got, err := LoadFaults("testdata/faults.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := door.Faults{
		Calls: []fault.Call{
			{Place: fault.Place{Cloud: "aws", Region: "eu-west-1"}, Call: "RunInstances", Kind: fault.Silent, Count: 1},
			{Place: fault.Place{Cloud: "gcp"}, Kind: fault.Throttle},
		},
		Machines: []fault.Machine{
			{Place: fault.Place{Cloud: "aws", Region: "us-east-1"}, NeverBoot: true},
			{Place: fault.Place{Cloud: "gcp", Zone: "us-east1-b"}, BootDelayS: 2.5},
		},
		Cuts:     []fault.Cut{{Place: fault.Place{Cloud: "gcp", Region: "us-east1"}, AfterS: 1.5, ForS: 60}},
		OptedOut: []string{"ap-east-1"},
		Quotas: []fault.Allowance{
			{Place: fault.Place{Cloud: "aws", Region: "eu-west-1"}, Quota: fault.StandardVCPUs, Limit: 4},
			{Place: fault.Place{Cloud: "gcp"}, Quota: fault.AllCPUs, Limit: 8},
		},
		Project: fault.Project{Metadata: map[string]string{"enable-oslogin": "TRUE"}, Policies: []string{fault.NoExternalAddress}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := ParseFaults("empty.yaml", nil); err != nil || len(got.Calls) > 0 {
		t.Errorf("ParseFaults of nothing = %v, %v", got, err)
	}
}

// TestBadFaults: each file breaks one rule and says in its first line, a
// comment, where and what the error is.
func TestBadFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/bad-faults/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(data), "\n")
			want := file + ":" + strings.TrimPrefix(first, "# ")
			if _, err := ParseFaults(file, data); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("ParseFaults = %v; want %q", err, want)
			}
		})
	}
}

func FuzzParseFaults(f *testing.F) {
	data, err := os.ReadFile("testdata/faults.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		faults, err := ParseFaults("fuzz", data)
		if err == nil && faults.Validate() != nil {
			t.Errorf("ParseFaults let invalid faults pass: %v", faults.Validate())
		}
	})
}
