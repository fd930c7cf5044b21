package sshd

import (
	"context"
	"io"

	"golang.org/x/crypto/ssh"
)

// Handler runs the command line of one exec session ("" for a login shell) and
// says how it ended. ctx ends when the client closes the session or is gone;
// then the command must end too.
type Handler func(ctx context.Context, s *Session) Exit

// Session is what the client's side of a command looks like.
type Session struct {
	Command        string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Signals        <-chan string // signal names without SIG, from the client
}

// Exit is a command's end: by Signal (a name without SIG) if set, else with Status.
type Exit struct {
	Status uint32
	Signal string
}

// session waits for the one command of a channel, runs it and reports its end.
func (s *Server) session(server context.Context, ch ssh.Channel, requests <-chan *ssh.Request) {
	defer ch.Close()
	ctx, cancel := context.WithCancel(server)
	defer cancel()
	command, ok := awaitCommand(requests)
	if !ok {
		return
	}
	signals := make(chan string, 1)
	go func() { // ends with the channel, which the deferred Close ensures
		defer cancel()
		forwardSignals(ctx, requests, signals)
	}()
	exit := s.Handler(ctx, &Session{
		Command: command, Stdin: ch, Stdout: ch, Stderr: ch.Stderr(), Signals: signals,
	})
	if server.Err() != nil {
		return // the server cut it short: no status may say that it ended well
	}
	if exit.Signal != "" {
		msg := struct {
			Signal     string
			CoreDumped bool
			Error      string
			Lang       string
		}{Signal: exit.Signal}
		ch.SendRequest("exit-signal", false, ssh.Marshal(msg)) // RFC 4254, section 6.10
		return
	}
	ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{exit.Status}))
}

// awaitCommand answers requests up to the one that starts a command. Terminals
// and environment variables are refused, as an sshd with an empty AcceptEnv does.
func awaitCommand(requests <-chan *ssh.Request) (command string, ok bool) {
	for r := range requests {
		switch r.Type {
		case "exec":
			var payload struct{ Command string }
			if err := ssh.Unmarshal(r.Payload, &payload); err != nil {
				r.Reply(false, nil)
				continue
			}
			r.Reply(true, nil)
			return payload.Command, true
		case "shell":
			r.Reply(true, nil)
			return "", true
		default:
			r.Reply(false, nil)
		}
	}
	return "", false
}

// forwardSignals passes on the client's signals until the channel is closed.
func forwardSignals(ctx context.Context, requests <-chan *ssh.Request, signals chan<- string) {
	for r := range requests {
		var payload struct{ Signal string }
		ok := r.Type == "signal" && ssh.Unmarshal(r.Payload, &payload) == nil
		r.Reply(ok, nil)
		if !ok {
			continue
		}
		select {
		case signals <- payload.Signal:
		case <-ctx.Done():
		}
	}
}
