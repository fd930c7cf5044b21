package aws

import (
	"encoding/base64"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/door/userdata"
	"github.com/antipode-bench/antipode/providers"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestUserData(t *testing.T) {
	pem, err := os.ReadFile(filepath.Join("testdata", "hostkey"))
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(filepath.Join("testdata", "hostkey.pub"))
	if err != nil {
		t.Fatal(err)
	}
	got := userData(time.Unix(1796000000, 0), pem, string(public))
	golden := filepath.Join("testdata", "user-data.yaml")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("user-data (-want +got):\n%s", diff)
	}
	boot := userdata.Parse([]byte(got))
	if len(boot.Warnings) > 0 || string(boot.HostKeyPEM) != string(pem) || len(boot.Commands) != 1 {
		t.Errorf("a machine understands it as %+v", boot)
	}
	if size := base64.StdEncoding.EncodedLen(len(got)); size > 16<<10 {
		t.Errorf("user-data has %d bytes, want at most 16 KiB", size)
	}
}

func TestToken(t *testing.T) {
	spec := providers.Spec{Run: providers.Run{ID: "r1"}, Region: "eu-west-1", MachineType: "t3.nano"}
	home := site{groups: [1 + peerGroups]string{"sg-1"}}
	first := token(spec, home, "eu-west-1a", 0)
	if first != token(spec, home, "eu-west-1a", 0) {
		t.Errorf("the same machine has two tokens")
	}
	if len(first) > 64 || strings.ContainsFunc(first, func(r rune) bool { return r > 126 }) {
		t.Errorf("token %q is not 64 ASCII characters at most", first)
	}
	other := spec
	other.MachineType = "t3.micro"
	for name, different := range map[string]string{
		"zone":         token(spec, home, "eu-west-1b", 0),
		"life":         token(spec, home, "eu-west-1a", 1),
		"machine type": token(other, home, "eu-west-1a", 0),
		"group":        token(spec, site{groups: [1 + peerGroups]string{"sg-2"}}, "eu-west-1a", 0),
	} {
		if different == first {
			t.Errorf("another %s, the same token", name)
		}
	}
}

func TestArchitecture(t *testing.T) {
	for machineType, want := range map[string]string{
		"t3.nano": "x86_64", "t4g.nano": "arm64", "c7gn.large": "arm64", "im4gn.large": "arm64", "a1.medium": "arm64",
		"g4dn.xlarge": "x86_64", "m7i-flex.large": "x86_64", "x2iezn.2xlarge": "x86_64", "g5g.xlarge": "arm64", "u7i-6tb.112xlarge": "x86_64",
	} {
		if got := architecture(machineType); got != want {
			t.Errorf("architecture(%s) = %s, want %s", machineType, got, want)
		}
	}
}

func TestDeal(t *testing.T) {
	var all []netip.Addr
	for a := netip.MustParseAddr("198.18.0.1"); len(all) < 121; a = a.Next() {
		all = append(all, a)
	}
	boxes, err := deal(boxesOf(nil, "r1"), all[:76])
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, b := range boxes {
		sizes = append(sizes, len(b.peers))
	}
	if diff := cmp.Diff([]int{30, 30, 16, 0}, sizes); diff != "" {
		t.Errorf("peers by group (-want +got):\n%s", diff)
	}
	if again, _ := deal(boxes, all[:76]); len(again[2].peers) != 16 {
		t.Errorf("the same peers again took another %d places", len(again[2].peers)-16)
	}
	if _, err := deal(boxes, all[:120]); err != nil {
		t.Errorf("120 peers: %v", err)
	}
	if _, err := deal(boxes, all); err == nil {
		t.Errorf("121 peers found a place")
	}
}

func TestMissingRules(t *testing.T) {
	peer := netip.MustParseAddr("198.18.0.1")
	b := box{peers: []netip.Addr{peer}, has: map[rule]bool{{"tcp", 8462, peer}: true}}
	want := []rule{{"udp", 8462, peer}}
	if diff := cmp.Diff(want, b.missing(8462), cmp.AllowUnexported(rule{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}

func TestPermissionsAndBack(t *testing.T) {
	want := peerRules(8462, []netip.Addr{netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.0.2")})
	if got := permissions(want); len(got) != 2 {
		t.Errorf("%d permissions, want one for TCP and one for UDP", len(got))
	}
	if diff := cmp.Diff(want, rules(permissions(want)), cmp.AllowUnexported(rule{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("rules(permissions) (-want +got):\n%s", diff)
	}
}
