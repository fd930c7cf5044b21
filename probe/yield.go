//go:build linux

package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"
)

const (
	yieldTimeout = 4 * time.Second // as much as an agent has to wind down, and more
	yieldPause   = 20 * time.Millisecond
)

var (
	errYielded = errors.New("another agent of the run took the port over")
	errAfar    = errors.New("only an agent on the same machine may take the port over")
)

// takeOver is Listen, even where an agent of the same run still has the port: a
// controller that lost its connection may be back before the machine has noticed
// and that agent has ended. Whoever else has the port keeps it.
func takeOver(ctx context.Context, secret []byte, port int) (*Server, error) {
	server, err := Listen(secret, port)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return server, err
	}
	ctx, cancel := context.WithTimeout(ctx, yieldTimeout)
	defer cancel() // ends the talk too
	if yerr := askForPort(ctx, secret, port); yerr != nil {
		return nil, fmt.Errorf("%w (and who has it keeps it: %v)", err, yerr)
	}
	for ctx.Err() == nil && errors.Is(err, syscall.EADDRINUSE) {
		time.Sleep(yieldPause)
		server, err = Listen(secret, port)
	}
	return server, err
}

// askForPort tells the agent that has the port to end. One that does says nothing more.
func askForPort(ctx context.Context, secret []byte, port int) error {
	here := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port))
	conn, _, err := dial(ctx, here, 0, nil)
	if err != nil {
		return err
	}
	ctl, err := NewClient(secret).prove(conn)
	if err != nil {
		return err
	}
	if err := ctl.out.Write(order{Yield: &yieldOrder{}, DeadlineMs: float64(yieldTimeout.Milliseconds())}); err != nil {
		return err
	}
	var n news
	if ctl.in.Read(&n) == nil {
		return fmt.Errorf("peer: %.200s", n.Error)
	}
	return nil
}

// giveWay has the agent end, and the port and this connection with it.
func (s *Server) giveWay(ctx context.Context, ctl *control) error {
	if !remoteAddr(ctl.conn).IsLoopback() {
		return errAfar
	}
	s.yield.Do(func() { close(s.yielded) })
	<-ctx.Done()
	return nil
}
