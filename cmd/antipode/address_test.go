package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestControllerAddr(t *testing.T) {
	tests := []struct {
		name, sshFrom string
		status        int
		body          string
		want, wantErr string
	}{
		{"asked for", "", 200, "198.18.0.1\n", "198.18.0.1", ""},
		{"given", "203.0.113.7", 500, "never asked", "203.0.113.7", ""},
		{"service is down", "", 503, "198.18.0.1", "", "503"},
		{"no address", "", 200, "<html>log in first</html>", "", "log in first"},
		{"nothing", "", 200, "", "", "not an IPv4 address"},
		{"IPv6", "", 200, "2001:db8::1\n", "", "2001:db8::1"},
		{"endless", "", 200, strings.Repeat("1", 1<<20), "", "--ssh-from"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			}))
			defer server.Close()
			f := sweepFlags{sshFrom: tt.sshFrom}
			got, err := f.controllerAddr(t.Context(), server.Client(), server.URL)
			if tt.wantErr == "" && (err != nil || got != netip.MustParseAddr(tt.want)) {
				t.Errorf("address = %v, %v; want %s", got, err, tt.want)
			}
			if tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
				t.Errorf("error = %v, want one with %q", err, tt.wantErr)
			}
		})
	}
}
