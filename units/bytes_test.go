package units

import "testing"

func TestByteCount(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1000": 1000, "10MB": 10e6, "1.5GB": 1.5e9, "64KiB": 64 << 10, "2 MiB": 2 << 20, "7B": 7, "3kB": 3000,
	} {
		var b ByteCount
		if err := b.Set(text); err != nil || int64(b) != want {
			t.Errorf("Set(%q) = %v, %d; want %d", text, err, b, want)
		}
	}
	for _, text := range []string{"", "MB", "-1", "10Mbit", "NaN", "Inf", "1e30GB", "ten"} {
		b := ByteCount(42)
		if err := b.Set(text); err == nil || b != 42 {
			t.Errorf("Set(%q) = %v, %d; want an error and no change", text, err, b)
		}
	}
}

func TestBytes(t *testing.T) {
	for want, n := range map[string]float64{
		"0 B": 0, "999 B": 999, "1.00 kB": 1000, "12.5 MB": 12.5e6, "1.00 GB": 999.96e6, "640 GB": 640e9, "5000 TB": 5e15,
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%v) = %q, want %q", n, got, want)
		}
	}
}
