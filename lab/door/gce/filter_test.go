package gce

import "testing"

const resource = `{"name":"antipode-r1-m","status":"RUNNING","labels":{"antipode-run":"r1","empty":""},
	"machineType":"https://x.test/zones/z/machineTypes/e2-small","scheduling":{"preemptible":false},"sizeGb":"10"}`

func TestFilter(t *testing.T) {
	for text, want := range map[string]bool{
		``:                           true,
		`labels.antipode-run=r1`:     true,
		`labels.antipode-run = "r1"`: true,
		`labels.antipode-run=r2`:     false,
		`labels.antipode-run!=r2`:    true,
		`labels.antipode-run:*`:      true,
		`labels.other:*`:             false,
		`labels.other!=x`:            true,
		`labels.empty=""`:            true,
		`name=antipode-*`:            true,
		`name:r1`:                    true,
		`name="antipode-r1-*" AND status=RUNNING`:          true,
		`(name=antipode-*) (status=TERMINATED)`:            false,
		`status=TERMINATED OR status=RUNNING`:              true,
		`(status=TERMINATED OR status=RUNNING) AND name=x`: false,
		`name eq antipode-r1-.*`:                           true,
		`name eq antipode`:                                 false,
		`name ne other.*`:                                  true,
		`scheduling.preemptible=false`:                     true,
		`machineType=*/e2-small`:                           true,
		`sizeGb=10`:                                        true,
	} {
		f, err := parseFilter(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := f.passes([]byte(resource)); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestBadFilter(t *testing.T) {
	for _, text := range []string{
		`name`, `name=`, `=x`, `(name=x`, `name=x)`, `name="x`, `name<x`, `()`, `name eq [`, `NOT name=x`, `OR`, `name=x OR`,
	} {
		if _, err := parseFilter(text); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestParseLink(t *testing.T) {
	for link, want := range map[string][2]string{
		"global/networks/n": {"networks", "n"},
		"https://www.googleapis.com/compute/v1/projects/p/global/networks/n": {"networks", "n"},
		"projects/p/zones/z/machineTypes/t":                                  {"machineTypes", "t"},
		"/zones/z/machineTypes/t":                                            {"zones", "z"},
		"networks":                                                           {"networks", ""},
	} {
		if got := parseLink(link)[want[0]]; got != want[1] {
			t.Errorf("%s: %s = %q, want %q", link, want[0], got, want[1])
		}
	}
}
