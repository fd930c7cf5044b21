package units

import "testing"

func TestBitRate(t *testing.T) {
	for text, want := range map[string]BitRate{
		"0": 0, "1000": 1000, "50M": 50e6, "2.5Gbit/s": 2.5e9, "64 kbit/s": 64e3, "9K": 9e3, "1T": 1e12, "7bit/s": 7,
	} {
		var got BitRate
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "M", "-1", "NaN", "Inf", "1Mbps", "1e16", "5MM", "1MB"} {
		got := BitRate(7)
		if err := got.Set(text); err == nil || got != 7 {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
	r := BitRate(50e6)
	if r.String() != "50000000" || r.Type() != "RATE" {
		t.Errorf("%s %s", r.String(), r.Type())
	}
}
