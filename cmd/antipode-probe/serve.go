//go:build linux

package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	"github.com/antipode-bench/antipode/probe"
	"github.com/antipode-bench/antipode/probe/wire"
)

// runServe lets others measure against this machine until it is told to end.
func runServe(args []string) error {
	flags := newFlags("serve", "serve [--listen ADDR]")
	listen := flags.String("listen", fmt.Sprintf("127.0.0.1:%d", wire.DefaultPort), "listen on `ADDR`, TCP and UDP; 0.0.0.0 is all addresses of the machine")
	var secret secretFlags
	secret.register(flags)
	if rest, err := parse(flags, args); err != nil || len(rest) > 0 {
		return surplus(rest, err)
	}
	addr, err := netip.ParseAddrPort(*listen)
	if err != nil {
		return misused("--listen %q: want an IP address and a port, for example 127.0.0.1:%d or [::]:%d", *listen, wire.DefaultPort, wire.DefaultPort)
	}
	key, err := secret.key(addr.Addr())
	if err != nil {
		return err
	}
	server, err := probe.ListenOn(key, addr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Printf("listening on %v, TCP and UDP\n", netip.AddrPortFrom(addr.Addr(), uint16(server.Port())))
	return server.Serve(ctx)
}
