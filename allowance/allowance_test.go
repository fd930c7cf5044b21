package allowance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	a, ok := Of("aws", "t3.nano")
	if want := (Allowance{"aws", "t3.nano", 32e6, 5e9}); !ok || a != want {
		t.Errorf("t3.nano: %+v, %v; want %+v", a, ok, want)
	}
	for _, unknown := range [][2]string{{"gcp", "e2-small"}, {"gcp", "t3.nano"}, {"aws", ""}, {"", ""}} {
		if a, ok := Of(unknown[0], unknown[1]); ok {
			t.Errorf("%v: %+v", unknown, a)
		}
	}
}

func TestEmbedded(t *testing.T) {
	all, err := parse("allowances.yaml", allowancesYAML)
	if err != nil || len(all) < 30 {
		t.Fatalf("%d types, %v", len(all), err)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no type":   {"- {cloud: aws, baseline_bps: 1, burst_bps: 2}", "a.yaml:1: cloud or type is missing"},
		"no rate":   {"- {cloud: aws, type: t, burst_bps: 2}", "a.yaml:1: t: baseline_bps 0 and burst_bps 2: want a baseline above zero and no less to burst to"},
		"burst low": {"- {cloud: aws, type: t, baseline_bps: 3, burst_bps: 2}", "a.yaml:1: t: baseline_bps 3 and burst_bps 2: want a baseline above zero and no less to burst to"},
		"twice": {"- {cloud: aws, type: t, baseline_bps: 1, burst_bps: 2}\n- {cloud: aws, type: t, baseline_bps: 1, burst_bps: 2}",
			"a.yaml:2: aws t is there twice"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse("a.yaml", []byte(c.text))
			if err == nil {
				t.Fatal("was taken")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
