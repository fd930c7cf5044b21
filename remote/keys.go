package remote

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/crypto/ssh"
)

// KeyPair is an ed25519 key pair: the run's own, or a machine's host key.
type KeyPair struct {
	Signer        ssh.Signer
	AuthorizedKey string // one line without its end: type, key, comment
	PEM           []byte // the private half as OpenSSH writes it; a secret
}

// NewKeyPair makes a fresh pair. The comment shows in AuthorizedKey and must be
// printable text in one line.
func NewKeyPair(comment string) (KeyPair, error) {
	if strings.ContainsFunc(comment, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return KeyPair{}, fmt.Errorf("key pair: comment %q is not one line of text", comment)
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return KeyPair{}, fmt.Errorf("key pair: %w", err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return KeyPair{}, fmt.Errorf("key pair: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return KeyPair{}, fmt.Errorf("key pair: %w", err)
	}
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())) + comment)
	return KeyPair{
		Signer:        signer,
		AuthorizedKey: strings.ReplaceAll(line, "\n", " "),
		PEM:           pem.EncodeToMemory(block),
	}, nil
}
