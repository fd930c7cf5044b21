package hosts

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// startAgent serves an ssh-agent with the given private keys.
func startAgent(t *testing.T, keys ...any) (socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent") // a test's own folder may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ring := agent.NewKeyring()
	for _, k := range keys {
		if err := ring.Add(agent.AddedKey{PrivateKey: k}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			agent.ServeAgent(ring, conn) // until the client hangs up
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// encryptedKey is the private half of testdata/id_encrypted.
func encryptedKey(t *testing.T) any {
	t.Helper()
	data, err := os.ReadFile("testdata/id_encrypted")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.ParseRawPrivateKeyWithPassphrase(data, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestAgentKeysLogIn(t *testing.T) {
	_, ed, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signers, err := agentKeys(startAgent(t, ed, rsaKey))
	if err != nil || len(signers) != 2 {
		t.Fatalf("agentKeys = %d keys, %v; want 2", len(signers), err)
	}
	for _, s := range signers {
		logIn(t, s)
	}
}

// logIn passes a handshake with a server that knows the signer's key.
func logIn(t *testing.T, s ssh.Signer) {
	t.Helper()
	_, hostKey, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	host, err := ssh.NewSignerFromKey(hostKey)
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if !same(key, s.PublicKey()) {
			return nil, os.ErrPermission
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	served := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			conn.SetDeadline(time.Now().Add(10 * time.Second))
			_, _, _, err = ssh.NewServerConn(conn, config)
		}
		served <- err
	}()
	client, err := ssh.Dial("tcp", l.Addr().String(), &ssh.ClientConfig{
		User: "root", Auth: []ssh.AuthMethod{ssh.PublicKeys(s)}, HostKeyCallback: ssh.FixedHostKey(host.PublicKey()), Timeout: 10 * time.Second,
	})
	if err != nil {
		t.Fatalf("log in with an %s key: %v", s.PublicKey().Type(), err)
	}
	client.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestEncryptedKey: the private half is the agent's to have.
func TestEncryptedKey(t *testing.T) {
	const file = "testdata/id_encrypted"
	signers, err := fileKey(file, startAgent(t, encryptedKey(t)))
	if err != nil || len(signers) != 1 {
		t.Fatalf("fileKey = %d keys, %v", len(signers), err)
	}
	logIn(t, signers[0])

	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ socket, want string }{
		"no agent":        {"", "SSH_AUTH_SOCK is not set"},
		"agent is gone":   {"/nowhere/agent", "ssh-agent: dial unix /nowhere/agent"},
		"empty agent":     {startAgent(t), "ssh-agent has no keys"},
		"another's agent": {startAgent(t, other), "ssh-agent does not have it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fileKey(file, tt.socket)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "ssh-add "+file) {
				t.Errorf("fileKey = %v, want %s, and what to do", err, tt.want)
			}
		})
	}
}
