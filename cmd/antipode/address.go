package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

const (
	// checkIP answers with the address that a request comes from.
	checkIP = "https://checkip.amazonaws.com/"
	// checkIPLimit bounds the question.
	checkIPLimit = 10 * time.Second
)

// controllerAddr is the address of this computer that machines let in: given,
// or asked for at url.
func (f *sweepFlags) controllerAddr(ctx context.Context, client *http.Client, url string) (netip.Addr, error) {
	if f.sshFrom != "" {
		return netip.ParseAddr(f.sshFrom)
	}
	addr, err := ownAddress(ctx, client, url)
	if err != nil {
		return addr, fmt.Errorf("find out this computer's public address (or give it with --ssh-from): %w", err)
	}
	return addr, nil
}

// ownAddress asks a check-ip service which IPv4 address requests of this
// computer come from.
func ownAddress(ctx context.Context, client *http.Client, url string) (netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, checkIPLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return netip.Addr{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return netip.Addr{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64))
	if err != nil {
		return netip.Addr{}, err
	}
	addr, err := netip.ParseAddr(strings.TrimSpace(string(body)))
	if err != nil || resp.StatusCode != http.StatusOK || !addr.Is4() {
		return netip.Addr{}, fmt.Errorf("%s answered %s: %.40q, not an IPv4 address", url, resp.Status, body)
	}
	return addr, nil
}
