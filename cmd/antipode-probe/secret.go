//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"os"

	"github.com/spf13/pflag"
)

const (
	// secretVariable holds the secret where no file does. A flag would show it
	// to everybody on the machine.
	secretVariable = "ANTIPODE_SECRET"
	// minSecretBytes keep a secret from being guessed by trying.
	minSecretBytes = 16
)

// secretFlags say what both sides must know.
type secretFlags struct {
	file     string
	insecure bool
}

func (f *secretFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "secret-file", "", "`FILE` with the secret both sides share, - for standard input (default $"+secretVariable+")")
	flags.BoolVar(&f.insecure, "insecure", false, "no secret: whoever reaches the port may measure")
}

// key is what peers prove to each other: the digest of the shared secret, or
// of nothing where that is no danger, or wanted.
func (f *secretFlags) key(addr netip.Addr) ([]byte, error) {
	secret, err := f.secret()
	switch {
	case err != nil:
		return nil, err
	case len(secret) > 0 && f.insecure:
		return nil, misused("--insecure together with a secret")
	case len(secret) == 0 && !f.insecure && !addr.IsLoopback():
		return nil, misused("%v can be reached from elsewhere: give both sides a secret (--secret-file or %s), or --insecure", addr, secretVariable)
	case len(secret) > 0 && len(secret) < minSecretBytes:
		return nil, misused("a secret of %d bytes, want %d or more", len(secret), minSecretBytes)
	}
	key := sha256.Sum256(append([]byte("antipode-probe\x00"), secret...))
	return key[:], nil
}

// secret is empty where none was given. Space around it does not count: files
// end with a newline.
func (f *secretFlags) secret() ([]byte, error) {
	secret, err := []byte(os.Getenv(secretVariable)), error(nil)
	switch f.file {
	case "":
	case "-":
		secret, err = readSecret("/dev/stdin")
	default:
		secret, err = readSecret(f.file)
	}
	return bytes.TrimSpace(secret), err
}

func readSecret(path string) ([]byte, error) {
	secret, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	if len(bytes.TrimSpace(secret)) == 0 {
		return nil, fmt.Errorf("read the secret: %s is empty", path)
	}
	return secret, nil
}
