package providertest

import (
	"crypto/ed25519"
	"encoding/pem"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/providers"
)

var (
	controller = netip.MustParseAddr("198.18.0.1")
	elsewhere  = netip.MustParseAddr("198.18.0.2")
	stranger   = netip.MustParseAddr("198.19.255.254")
)

const probePort = 8462

func run(id string) providers.Run {
	return providers.Run{ID: id, Expires: time.Now().Add(time.Hour).Truncate(time.Second)}
}

func (c Cloud) spec(t *testing.T, run providers.Run, region string) providers.Spec {
	hostKey, hostKeyPEM := keyPair(t)
	login, _ := keyPair(t)
	return providers.Spec{Run: run, Region: region, MachineType: c.MachineType, AuthorizedKey: login,
		HostKey: hostKey, HostKeyPEM: hostKeyPEM, SSHFrom: controller}
}

func keyPair(t *testing.T) (public string, private []byte) {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	sshPub, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(sshPub))), pem.EncodeToMemory(block)
}

// peers are n addresses, first of them the base-th.
func peers(base, n int) []netip.Addr {
	var list []netip.Addr
	for i := base; i < base+n; i++ {
		list = append(list, netip.AddrFrom4([4]byte{198, 18, byte(10 + i/200), byte(1 + i%200)}))
	}
	return list
}
