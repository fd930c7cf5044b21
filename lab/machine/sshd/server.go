package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// handshakeTimeout is what a client has to prove itself (sshd_config's
	// LoginGraceTime is 120 s: too generous for a lab).
	handshakeTimeout = 20 * time.Second
	// maxSessions per connection, the default of sshd_config's MaxSessions.
	maxSessions = 10
	// maxStartups is how many clients may be unproven at a time; more are cut off.
	maxStartups = 100
)

// Server accepts connections of one user. Fill it once, then Serve.
type Server struct {
	User           string // "" lets any name in
	AuthorizedKeys []ssh.PublicKey
	HostKey        ssh.Signer
	Handler        Handler
}

// Serve accepts connections on l until ctx ends or l fails. It closes l, cuts
// all connections and waits for their sessions before it returns. The end of
// ctx is no error.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var conns sync.WaitGroup
	defer conns.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	defer l.Close()

	config, unproven := s.config(), make(chan struct{}, maxStartups)
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept: %w", err)
		case err != nil: // out of descriptors, or the client is gone already: both pass
			pause(ctx, 50*time.Millisecond)
			continue
		}
		select {
		case unproven <- struct{}{}:
			conns.Go(func() { s.serve(ctx, conn, config, func() { <-unproven }) })
		default:
			conn.Close()
		}
	}
}

// serve runs one connection to its end; proven is called once the handshake is over.
func (s *Server) serve(ctx context.Context, conn net.Conn, config *ssh.ServerConfig, proven func()) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	conn.SetDeadline(time.Now().Add(handshakeTimeout))
	sc, channels, requests, err := ssh.NewServerConn(conn, config)
	proven()
	if err != nil {
		return // scanners and wrong keys are the client's news, not ours
	}
	conn.SetDeadline(time.Time{})
	defer sc.Close()

	var sessions sync.WaitGroup
	defer sessions.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the connection has ended: so do its sessions
	sessions.Go(func() { ssh.DiscardRequests(requests) })
	s.accept(ctx, channels, &sessions)
}

// accept starts a session for each channel until the connection ends.
func (s *Server) accept(ctx context.Context, channels <-chan ssh.NewChannel, sessions *sync.WaitGroup) {
	open := make(chan struct{}, maxSessions)
	for nc := range channels {
		if nc.ChannelType() != "session" {
			nc.Reject(ssh.UnknownChannelType, "only sessions are served")
			continue
		}
		select {
		case open <- struct{}{}:
		default:
			nc.Reject(ssh.ResourceShortage, fmt.Sprintf("more than %d sessions", maxSessions))
			continue
		}
		ch, requests, err := nc.Accept()
		if err != nil {
			<-open
			continue
		}
		sessions.Go(func() {
			defer func() { <-open }()
			s.session(ctx, ch, requests)
		})
	}
}

func (s *Server) config() *ssh.ServerConfig {
	c := &ssh.ServerConfig{MaxAuthTries: 6, PublicKeyCallback: s.authorize}
	c.AddHostKey(s.HostKey)
	return c
}

func (s *Server) authorize(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
	if s.User != "" && meta.User() != s.User {
		return nil, fmt.Errorf("no user %q", meta.User())
	}
	for _, k := range s.AuthorizedKeys {
		if bytes.Equal(k.Marshal(), key.Marshal()) {
			return &ssh.Permissions{}, nil
		}
	}
	return nil, errors.New("unknown key")
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
