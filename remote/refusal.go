package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"

	"golang.org/x/crypto/ssh"
)

// HostKeyError says that something else than the machine answered, or that the
// machine has another key than it was given. It is final: waiting doesn't help.
type HostKeyError struct {
	Name      string // of the machine
	Addr      string
	Want, Got string // SHA-256 fingerprints; Want may be several
}

func (e *HostKeyError) Error() string {
	return fmt.Sprintf("connect to %s: %s shows the host key %s instead of %s: not the machine that is meant",
		e.Name, e.Addr, e.Got, e.Want)
}

// LoginError says that a Booted machine, proved to be the right one, does not
// let us in. It is final, and not tried again: many a machine locks out whoever
// does.
type LoginError struct {
	Name, User, Addr string
	Err              error
}

func (e *LoginError) Error() string {
	return fmt.Sprintf("connect to %s: SSH at %s refuses to log in %s: %v", e.Name, e.Addr, e.User, e.Err)
}

func (e *LoginError) Unwrap() error { return e.Err }

// final reports whether trying again is of no use.
func final(err error) bool {
	_, wrong := errors.AsType[*HostKeyError](err)
	_, refused := errors.AsType[*LoginError](err)
	return wrong || refused
}

// refused reports whether a handshake failed by what the server answered rather
// than on the way: no kind of host key in common, or no log-in once it had shown
// the right one.
func refused(err error, right bool) bool {
	if _, is := errors.AsType[*ssh.AlgorithmNegotiationError](err); is {
		return true
	}
	_, broken := errors.AsType[net.Error](err)
	return right && !broken && !errors.Is(err, io.EOF)
}

// algorithms are those that a server with one of the keys can sign with.
func algorithms(keys []ssh.PublicKey) []string {
	var names []string
	for _, key := range keys {
		if key.Type() == ssh.KeyAlgoRSA {
			names = append(names, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		} else {
			names = append(names, key.Type())
		}
	}
	return names
}

// pin accepts the wanted host keys only, remembers that one was shown, and
// another that was.
type pin struct {
	target Target
	want   []ssh.PublicKey
	right  atomic.Bool
	wrong  atomic.Pointer[HostKeyError]
}

func (p *pin) check(_ string, _ net.Addr, got ssh.PublicKey) error {
	var prints []string
	for _, want := range p.want {
		if bytes.Equal(got.Marshal(), want.Marshal()) {
			p.right.Store(true)
			return nil
		}
		prints = append(prints, ssh.FingerprintSHA256(want))
	}
	err := &HostKeyError{
		Name: p.target.Name, Addr: p.target.Addr.String(),
		Want: strings.Join(prints, " or "), Got: ssh.FingerprintSHA256(got),
	}
	p.wrong.Store(err)
	return err
}
