package userdata

import (
	"crypto/ed25519"
	"encoding/pem"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
)

func hostKey(t testing.TB) (private, public string) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	block, err := ssh.MarshalPrivateKey(key, "host")
	if err != nil {
		t.Fatal(err)
	}
	pub, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block)), string(ssh.MarshalAuthorizedKey(pub))
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    ")
}

func TestParseCloudConfig(t *testing.T) {
	private, public := hostKey(t)
	got := Parse([]byte("#cloud-config\nssh_deletekeys: true\nssh_genkeytypes: [ed25519]\n" +
		"ssh_keys:\n  ed25519_private: |\n" + indent(private) + "\n  ed25519_public: " + public +
		"bootcmd:\n- shutdown -P +30\n- [echo, \"it's\", 5]\nruncmd:\n- sleep 1\n- [echo, late]\n"))
	want := Boot{
		HostKeyPEM: []byte(private),
		Commands: []string{
			"shutdown -P +30",
			`'echo' 'it'\''s' '5'`,
			"/bin/sh -c 'sleep 1\n'\\''echo'\\'' '\\''late'\\''' </dev/null >/dev/null 2>&1 &",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestParseWarns(t *testing.T) {
	private, _ := hostKey(t)
	for name, c := range map[string]struct{ data, warning string }{
		"Prose":        {"hello", "neither"},
		"BadYAML":      {"#cloud-config\n\t:", "user-data:"},
		"UnknownKey":   {"#cloud-config\npackages: [iperf]\n", `does not know "packages"`},
		"OtherKeyType": {"#cloud-config\nssh_keys: {rsa_private: x}\n", "without ed25519_private"},
		"NoKey":        {"#cloud-config\nssh_keys: {ed25519_private: x}\n", "ed25519_private:"},
		"WrongPublic": {"#cloud-config\nssh_keys:\n  ed25519_private: |\n" + indent(private) +
			"\n  ed25519_public: ssh-ed25519 AAAA\n", "not the public half"},
		"Perl": {"#!/usr/bin/perl\nprint 1\n", "interpreter"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Parse([]byte(c.data)).Warnings
			if len(got) != 1 || !strings.Contains(got[0], c.warning) {
				t.Errorf("warnings = %q, want one with %q", got, c.warning)
			}
		})
	}
}

func TestScriptRuns(t *testing.T) {
	for _, shebang := range []string{"#!/bin/sh", "#!/bin/sh -e", "#! /usr/bin/env sh"} {
		b := Parse([]byte(shebang + "\ntest \"it's\" = \"it's\" || exit 1\nexit 7\n"))
		if len(b.Commands) != 1 || b.Warnings != nil {
			t.Fatalf("%s: Parse = %+v, want one command", shebang, b)
		}
		front := strings.TrimSuffix(b.Commands[0], "&")
		err := exec.CommandContext(t.Context(), "/bin/sh", "-c", front).Run()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 7 {
			t.Errorf("%s: the script ended with %v, want exit status 7", shebang, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	private, public := hostKey(f)
	f.Add([]byte("#cloud-config\nssh_keys:\n  ed25519_private: |\n" + indent(private) + "\n  ed25519_public: " + public))
	f.Add([]byte("#cloud-config\nbootcmd: [a, [b, c]]\nruncmd: [[d]]\n"))
	f.Add([]byte("#!/bin/sh\nshutdown -P +5\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range Parse(data).Commands {
			_ = c
		}
	})
}
