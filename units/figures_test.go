package units

import "testing"

func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Rate(0), "0 bit/s"},
		{Rate(950), "950 bit/s"},
		{Rate(999.6), "1.00 kbit/s"},
		{Rate(10e6), "10.0 Mbit/s"},
		{Rate(999.96e6), "1.00 Gbit/s"},
		{Rate(12.5e15), "12500 Tbit/s"},
		{Milliseconds(0.0912), "0.091 ms"},
		{Milliseconds(99.96), "100 ms"},
		{Kilometres(0.4), "0"},
		{Kilometres(999.6), "1,000"},
		{Kilometres(20015), "20,015"},
		{Kilometres(1234567), "1,234,567"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
