package hosts

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/strictyaml"
)

func testEnvironment() Environment {
	return Environment{Regions: antipode.Regions(), Home: "/nowhere"}
}

func load(t *testing.T, file string) []Host {
	t.Helper()
	list, err := Load(filepath.Join("testdata", file), testEnvironment())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestLoad(t *testing.T) {
	list := load(t, "good.yaml")
	frankfurt, _ := antipode.Find(antipode.Regions(), "aws:eu-central-1")
	frankfurt.Cloud, frankfurt.Name = Cloud, "attic"
	want := []antipode.Region{
		frankfurt,
		{Cloud: Cloud, Name: "cellar", Latitude: -33.86, Longitude: 151.2},
		{Cloud: Cloud, Name: "3rd-floor", Unplaced: true},
		{Cloud: Cloud, Name: "barn", Unplaced: true},
	}
	if diff := cmp.Diff(want, Regions(list)); diff != "" {
		t.Errorf("regions (-want +got):\n%s", diff)
	}
	attic, cellar, third, barn := list[0], list[1], list[2], list[3]
	if attic.Address != netip.MustParseAddr("192.0.2.10") || attic.Private != netip.MustParseAddr("10.0.0.10") ||
		attic.IPv6 != netip.MustParseAddr("2001:db8::10") || attic.SSHPort != 22 || attic.ProbePort != 0 || attic.User != "root" {
		t.Errorf("attic = %+v", attic)
	}
	if cellar.Private.IsValid() || cellar.IPv6.IsValid() || cellar.SSHPort != 2222 || cellar.ProbePort != 9000 || cellar.User != "probe.user" {
		t.Errorf("cellar = %+v", cellar)
	}
	if barn.Address != netip.MustParseAddr("2001:db8::13") || barn.IPv6 != barn.Address || len(barn.HostKeys) != 1 {
		t.Errorf("barn = %+v", barn)
	}
	if len(attic.HostKeys) != 2 || len(cellar.HostKeys) != 1 || !same(cellar.HostKeys[0], third.HostKeys[0]) {
		t.Errorf("host keys: %d, %d, %d", len(attic.HostKeys), len(cellar.HostKeys), len(third.HostKeys))
	}
	public, err := os.ReadFile("testdata/id.pub")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range list {
		if len(h.Signers) != 1 || !bytes.HasPrefix(public, bytes.TrimSpace(ssh.MarshalAuthorizedKey(h.Signers[0].PublicKey()))) {
			t.Errorf("%s logs in with another key than testdata/id", h.Region.Name)
		}
	}
}

// TestLoadBad has a file for every rule; its first line says what is wrong and
// on which line.
func TestLoadBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d bad files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, _, _ := strings.Cut(string(data), "\n")
			want := file + ":" + strings.TrimPrefix(head, "# want ")
			list, err := Load(file, testEnvironment())
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("Load = %v, %v\nwant %s", list, err, want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one error: %v", err)
			}
		})
	}
	if _, err := Load("testdata/nowhere.yaml", testEnvironment()); err == nil || !strings.Contains(err.Error(), "nowhere.yaml") {
		t.Errorf("Load of no file = %v", err)
	}
}

func TestHashedKnownHost(t *testing.T) {
	keys, err := knownKeys("testdata/known_hosts", netip.MustParseAddrPort("192.0.2.12:22"))
	if err != nil || len(keys) != 1 {
		t.Errorf("knownKeys = %d keys, %v; want one", len(keys), err)
	}
}

// FuzzLoad holds that no file is a panic, and every error names its file.
func FuzzLoad(f *testing.F) {
	files, _ := filepath.Glob("testdata/bad/*.yaml")
	for _, file := range append(files, "testdata/good.yaml") {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := parser{File: strictyaml.File{Name: "inventory.yaml"}, env: testEnvironment(), first: map[string]int{}}
		for _, n := range p.List(data, "hosts", "host") {
			p.host(n)
		}
		for _, err := range p.Errors() {
			if !strings.HasPrefix(err.Error(), "inventory.yaml:") {
				t.Errorf("error %q does not say where", err)
			}
		}
	})
}
