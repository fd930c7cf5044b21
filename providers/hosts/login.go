package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// signers are the keys to log in with: that of a file, or all of ssh-agent.
func (p *parser) signers(lines map[string]int, e entry) []ssh.Signer {
	line := lines["key"]
	var signers []ssh.Signer
	var err error
	switch {
	case (line > 0) == e.Agent:
		p.Errorf(max(line, lines["agent"], lines["name"]), "a host needs either key, a private key file, or agent: true")
		return nil
	case e.Agent:
		line = lines["agent"]
		signers, err = agentKeys(p.env.AgentSocket)
	default:
		signers, err = fileKey(p.resolve(e.Key), p.env.AgentSocket)
	}
	if err != nil {
		p.Errorf(line, "%w", err)
	}
	return signers
}

// fileKey is the key in a file. Of an encrypted one the agent must have the
// private half: nobody is asked for a passphrase.
func fileKey(path, socket string) ([]ssh.Signer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	signer, err := ssh.ParsePrivateKey(data)
	locked, encrypted := errors.AsType[*ssh.PassphraseMissingError](err)
	switch {
	case err == nil:
		return []ssh.Signer{signer}, nil
	case !encrypted:
		return nil, fmt.Errorf("key: %s: %w", path, err)
	}
	keys, err := agentKeys(socket)
	for _, k := range keys {
		if locked.PublicKey != nil && same(k.PublicKey(), locked.PublicKey) {
			return []ssh.Signer{k}, nil
		}
	}
	if err == nil {
		err = errors.New("ssh-agent does not have it")
	}
	return nil, fmt.Errorf("key: %s is encrypted, and %w: load it with ssh-add %[1]s", path, err)
}

// agentTimeout bounds every question to ssh-agent, also one that its user has
// to confirm.
const agentTimeout = 15 * time.Second

// agentKeys are all keys of the agent behind socket.
func agentKeys(socket string) (signers []ssh.Signer, err error) {
	if socket == "" {
		return nil, errors.New("there is no ssh-agent: SSH_AUTH_SOCK is not set")
	}
	err = askAgent(socket, func(a agent.ExtendedAgent) error {
		keys, err := a.List()
		for _, k := range keys {
			public, err := ssh.ParsePublicKey(k.Blob)
			if err == nil { // else a kind this program doesn't know
				signers = append(signers, agentKey{socket, public})
			}
		}
		return err
	})
	if err == nil && len(signers) == 0 {
		err = errors.New("ssh-agent has no keys: load one with ssh-add")
	}
	return signers, err
}

// askAgent connects for one question only: there is nothing to keep alive or
// to close later, and an agent that was started again is found.
func askAgent(socket string, ask func(agent.ExtendedAgent) error) error {
	conn, err := net.DialTimeout("unix", socket, agentTimeout)
	if err == nil {
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(agentTimeout))
		err = ask(agent.NewClient(conn))
	}
	if err != nil {
		return fmt.Errorf("ssh-agent: %w", err)
	}
	return nil
}

// agentKey signs through the agent.
type agentKey struct {
	socket string
	public ssh.PublicKey
}

func (k agentKey) PublicKey() ssh.PublicKey { return k.public }

func (k agentKey) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	return k.SignWithAlgorithm(rand, data, "")
}

// SignWithAlgorithm lets RSA keys sign with SHA-2, which servers insist on.
func (k agentKey) SignWithAlgorithm(_ io.Reader, data []byte, algorithm string) (signature *ssh.Signature, err error) {
	var flags agent.SignatureFlags
	switch algorithm {
	case ssh.KeyAlgoRSASHA256:
		flags = agent.SignatureFlagRsaSha256
	case ssh.KeyAlgoRSASHA512:
		flags = agent.SignatureFlagRsaSha512
	}
	err = askAgent(k.socket, func(a agent.ExtendedAgent) error {
		signature, err = a.SignWithFlags(k.public, data, flags)
		return err
	})
	return signature, err
}

func same(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }
