package machine

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"log"
	"net"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/lab/machine/sshd"
)

// keepAlive notices a client that is gone without a word within half a minute.
var keepAlive = net.KeepAliveConfig{
	Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4,
}

// sshServer prepares the server; a host key of the machine's own making is reported.
func (m *machine) sshServer(home string) (*sshd.Server, error) {
	key, err := m.hostKey()
	if err != nil {
		return nil, err
	}
	shell := sshd.Shell{
		Dir:   home,
		Env:   environment(m.boot.User, home, m.path),
		Start: m.reaper.start,
	}
	return &sshd.Server{
		User: m.boot.User, AuthorizedKeys: m.authorizedKeys(), HostKey: key, Handler: shell.Run,
	}, nil
}

func (m *machine) hostKey() (ssh.Signer, error) {
	if len(m.boot.HostKeyPEM) > 0 {
		key, err := ssh.ParsePrivateKey(m.boot.HostKeyPEM)
		if err != nil {
			return nil, fmt.Errorf("host key: %w", err)
		}
		return key, nil
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("host key: %w", err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return nil, fmt.Errorf("host key: %w", err)
	}
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey())))
	return key, m.control.report(Report{Kind: ReportHostKey, HostKey: line})
}

// authorizedKeys leaves out what is no key, as sshd does with such lines.
func (m *machine) authorizedKeys() []ssh.PublicKey {
	var keys []ssh.PublicKey
	for i, line := range m.boot.AuthorizedKeys {
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil {
			log.Printf("authorized key %d: %v", i+1, err)
			continue
		}
		keys = append(keys, key)
	}
	return keys
}

// listen opens the SSH port; it returns nil where that is refused.
func (m *machine) listen() (net.Listener, error) {
	if m.boot.RefuseSSH {
		return nil, nil
	}
	config := net.ListenConfig{KeepAliveConfig: keepAlive}
	l, err := config.Listen(context.Background(), "tcp", ":22")
	if err != nil {
		return nil, fmt.Errorf("ssh: %w", err)
	}
	return l, nil
}

// serve serves SSH until a reboot.
func (m *machine) serve(server *sshd.Server, l net.Listener) error {
	debug.FreeOSMemory() // what the boot took is not needed again
	if l == nil {
		<-m.reboots
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-m.reboots; cancel() }()
	return server.Serve(ctx, l)
}
