package userdata

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"golang.org/x/crypto/ssh"
)

// Boot is what to do at boot.
type Boot struct {
	HostKeyPEM []byte   // OpenSSH private ed25519 key; nil: the machine makes its own
	Commands   []string // for /bin/sh -c, in order; those that real machines run late don't wait
	Warnings   []string // what a real machine would have logged and gone on, or the lab can't do
}

// config is the part of #cloud-config that the lab understands.
type config struct {
	SSHKeys       map[string]string `yaml:"ssh_keys"`
	SSHDeleteKeys *bool             `yaml:"ssh_deletekeys"`  // the lab's images carry none
	SSHGenTypes   []string          `yaml:"ssh_genkeytypes"` // the lab's machines make ed25519 only
	BootCmd       []command         `yaml:"bootcmd"`
	RunCmd        []command         `yaml:"runcmd"`
	Output        any               `yaml:"output"` // nobody reads the machine's console
}

// Parse reads user-data as cloud-init does: what can't be read is skipped with
// a warning, because the machine boots all the same.
func Parse(data []byte) Boot {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	switch first, _, _ := strings.Cut(text, "\n"); {
	case strings.TrimSpace(text) == "":
		return Boot{}
	case strings.TrimSpace(first) == "#cloud-config":
		return parseConfig(text)
	case strings.HasPrefix(first, "#!"):
		return script(text)
	default:
		return Boot{Warnings: []string{fmt.Sprintf("user-data begins with %.40q, which is neither #cloud-config nor a script", first)}}
	}
}

func parseConfig(text string) Boot {
	var c config
	var b Boot
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		b.warn("user-data: %v", err)
		return b
	}
	b.Warnings = unknownKeys(text)
	b.hostKey(c.SSHKeys)
	for _, cmd := range c.BootCmd {
		b.Commands = append(b.Commands, cmd.shell())
	}
	if late := runScript(c.RunCmd); late != "" {
		b.Commands = append(b.Commands, behind("/bin/sh -c "+quote(late)))
	}
	return b
}

func runScript(cmds []command) string {
	var lines []string
	for _, cmd := range cmds {
		lines = append(lines, cmd.shell())
	}
	return strings.Join(lines, "\n")
}

// unknownKeys names the top-level keys that the lab passes over.
func unknownKeys(text string) []string {
	var all map[string]any
	if err := yaml.Unmarshal([]byte(text), &all); err != nil {
		return []string{fmt.Sprintf("user-data: %v", err)}
	}
	known := []string{"ssh_keys", "ssh_deletekeys", "ssh_genkeytypes", "bootcmd", "runcmd", "output"}
	var warnings []string
	for key := range all {
		if !slices.Contains(known, key) {
			warnings = append(warnings, fmt.Sprintf("user-data: the lab does not know %q", key))
		}
	}
	slices.Sort(warnings)
	return warnings
}

// hostKey takes the ed25519 key pair out of ssh_keys. A private key that is
// none would leave sshd without a key, so it is refused here.
func (b *Boot) hostKey(keys map[string]string) {
	private, ok := keys["ed25519_private"]
	if !ok {
		if len(keys) > 0 {
			b.warn("user-data: ssh_keys without ed25519_private")
		}
		return
	}
	signer, err := ssh.ParsePrivateKey([]byte(private))
	if err != nil {
		b.warn("user-data: ed25519_private: %v", err)
		return
	}
	if t := signer.PublicKey().Type(); t != ssh.KeyAlgoED25519 {
		b.warn("user-data: ed25519_private holds an %s key", t)
		return
	}
	if public, ok := keys["ed25519_public"]; ok {
		got, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
		if err != nil || !bytes.Equal(got.Marshal(), signer.PublicKey().Marshal()) {
			b.warn("user-data: ed25519_public is not the public half of ed25519_private")
		}
	}
	b.HostKeyPEM = []byte(private)
}

func (b *Boot) warn(format string, args ...any) {
	b.Warnings = append(b.Warnings, fmt.Sprintf(format, args...))
}
