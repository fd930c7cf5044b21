package hosts

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// hostKeys are the keys that the host may show: the one in the inventory, or
// those that known_hosts has for its address. A host without one can't be told
// from another that answers in its place, so that is an error.
func (p *parser) hostKeys(lines map[string]int, e entry, h Host) []ssh.PublicKey {
	pinned, file := lines["host_key"], lines["known_hosts"]
	switch {
	case pinned > 0 && file > 0:
		p.Errorf(pinned, "host_key and known_hosts: one of them says how to recognise the host")
		return nil
	case pinned > 0:
		key, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(e.HostKey))
		if err != nil || len(rest) > 0 {
			p.Errorf(pinned, "host_key is not one public key, such as \"ssh-ed25519 AAAA...\"")
		}
		return []ssh.PublicKey{key}
	}
	line, path := lines["address"], filepath.Join(p.env.Home, ".ssh", "known_hosts")
	if file > 0 {
		line, path = file, p.resolve(e.KnownHosts)
	}
	at := netip.AddrPortFrom(h.Address, uint16(h.SSHPort))
	keys, err := knownKeys(path, at)
	switch {
	case errors.Is(err, fs.ErrNotExist) && file == 0:
		p.Errorf(line, "nothing says how to recognise the host: there is no %s; give host_key or known_hosts", path)
	case err != nil:
		p.Errorf(line, "known_hosts: %w", err)
	case len(keys) == 0:
		p.Errorf(line, "%s has no key for %s: log in once with ssh, or give host_key", path, knownhosts.Normalize(at.String()))
	}
	return keys
}

// knownKeys are the keys that a known_hosts file has for a host, hashed names
// and patterns included. Certificate authorities and revoked keys are none.
func knownKeys(path string, at netip.AddrPort) ([]ssh.PublicKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	check, err := knownhosts.New(path)
	if err != nil {
		return nil, err
	}
	tcp := net.TCPAddrFromAddrPort(at)
	unlike, ok := errors.AsType[*knownhosts.KeyError](check(at.String(), tcp, nobodysKey{}))
	if !ok {
		return nil, fmt.Errorf("%s does not name its keys", path)
	}
	lines := strings.Split(string(data), "\n")
	var keys []ssh.PublicKey
	for _, k := range unlike.Want {
		authority := strings.HasPrefix(strings.TrimSpace(lines[k.Line-1]), "@cert-authority")
		if !authority && check(at.String(), tcp, k.Key) == nil {
			keys = append(keys, k.Key)
		}
	}
	return keys, nil
}

// nobodysKey is like no key in any file: the refusal of it lists those that
// would do.
type nobodysKey struct{}

func (nobodysKey) Type() string                        { return "none" }
func (nobodysKey) Marshal() []byte                     { return []byte("none") }
func (nobodysKey) Verify([]byte, *ssh.Signature) error { return errors.New("nobody's key") }

// resolve finds a file that the inventory names.
func (p *parser) resolve(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(p.env.Home, rest)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(p.Name), path)
}
