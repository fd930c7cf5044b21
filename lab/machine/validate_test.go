package machine

import (
	"net/netip"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	good := Boot{
		ID: "m1", User: "ec2-user",
		Link: Link{Kind: LinkTUN, Name: "eth0", MTU: 1460, Public: netip.MustParseAddr("198.18.0.2")},
	}
	if err := good.validate(); err != nil {
		t.Errorf("a good boot: %v", err)
	}
	for want, change := range map[string]func(*Boot){
		"no id":          func(b *Boot) { b.ID = "" },
		"user name":      func(b *Boot) { b.User = "a/../b" },
		"negative delay": func(b *Boot) { b.BootDelayMs = -1 },
		"unknown kind":   func(b *Boot) { b.Link.Kind = "wifi" },
		"interface name": func(b *Boot) { b.Link.Name = strings.Repeat("x", 16) },
		"MTU 100":        func(b *Boot) { b.Link.MTU = 100 },
		"no address":     func(b *Boot) { b.Link.Public = netip.Addr{} },
		"198.18.0.3":     func(b *Boot) { b.Link.IPv6 = netip.MustParseAddr("198.18.0.3") },
		"MTU 1000":       func(b *Boot) { b.Link.IPv6, b.Link.MTU = netip.MustParseAddr("2001:2::2"), 1000 },
		"peer's MAC":     func(b *Boot) { b.Link.Kind = LinkVeth },
	} {
		b := good
		change(&b)
		if err := b.validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v; want %q in it", err, want)
		}
	}
}
