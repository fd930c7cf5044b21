package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"fmt"
	"io"
	"runtime"

	"github.com/antipode-bench/antipode/remote"
)

// payload holds what the Makefile built before this program: the probes that
// are pushed to machines, and the first process of a lab machine.
//
//go:embed payload
var payload embed.FS

// architectures maps what `uname -m` says to Go's name.
var architectures = map[string]string{"x86_64": "amd64", "aarch64": "arm64"}

// probes returns the probe for each kind of machine.
func probes() (remote.Probes, error) {
	all := remote.Probes{}
	for uname, arch := range architectures {
		packed, plain, err := carried("antipode-probe-linux-" + arch)
		if err != nil {
			return nil, err
		}
		all[uname] = remote.Binary{Gzip: packed, SHA256: sha256.Sum256(plain)}
	}
	return all, nil
}

// labMachine returns the binary that runs a lab machine on this computer.
func labMachine() ([]byte, error) {
	_, plain, err := carried("antipode-machine-linux-" + runtime.GOARCH)
	return plain, err
}

// carried returns a carried binary, packed and unpacked.
func carried(name string) (packed, plain []byte, err error) {
	packed, err = payload.ReadFile("payload/" + name + ".gz")
	if err != nil {
		return nil, nil, fmt.Errorf("this antipode was built without %s: build it with `make build`", name)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	plain, err = io.ReadAll(z)
	if err != nil {
		return nil, nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	return packed, plain, nil
}
