package nearest

import "testing"

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"us-esat-1", "us-east-1", 2}} {
		if got := edits(tt.a, tt.b); got != tt.want || edits(tt.b, tt.a) != tt.want {
			t.Errorf("edits(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		name  string
		known []string
		want  string
	}{
		{"regoins", []string{"yes", "regions", "region"}, "regions"},
		{"b", []string{"x", "y"}, "x"},
		{"a", nil, ""},
	} {
		if got := Of(tt.name, tt.known); got != tt.want {
			t.Errorf("Of(%q, %q) = %q, want %q", tt.name, tt.known, got, tt.want)
		}
	}
}
