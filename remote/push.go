package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// pushScript runs on the machine. It tells the architecture, reads the SHA-256
// and the folder's name in a line and the compressed binary after it, and tells the
// path: one exec session for everything, since round trips are what a push costs.
// The name is ours, so that the folder is found again if the path never arrives.
//
//go:embed push.sh
var pushScript string

// Lines of the script begin with these; a log-in shell may add lines of its own.
const (
	archPrefix = "antipode-arch "
	pathPrefix = "antipode-path "
)

// Binary is a probe for one architecture.
type Binary struct {
	Gzip   []byte
	SHA256 [32]byte // of the uncompressed file
}

// Probes are the binaries by what `uname -m` says: "x86_64", "aarch64".
type Probes map[string]Binary

// Push puts the probe that fits the machine into a fresh private folder, checks
// it there and returns its path. A failed push leaves nothing behind as far as
// the machine can still be reached; Close removes a successful one.
func (c *Conn) Push(ctx context.Context, probes Probes) (string, error) {
	file, err := await(ctx, c, func() (string, error) { return c.push(ctx, probes) })
	if err = c.believed(ctx, err); err != nil {
		return "", fmt.Errorf("push the probe to %s: %w", c.target.Name, err)
	}
	return file, nil
}

func (c *Conn) push(ctx context.Context, probes Probes) (string, error) {
	s, err := c.client.NewSession()
	if err != nil {
		return "", err
	}
	defer s.Close()
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	stderr := &tail{}
	s.Stderr = stderr
	stdin, err1 := s.StdinPipe()
	stdout, err2 := s.StdoutPipe()
	if err := errors.Join(err1, err2, s.Start("exec /bin/sh -c "+quote(pushScript))); err != nil {
		return "", err
	}
	file, err := c.converse(stdin, bufio.NewReader(stdout), probes)
	stdin.Close() // a script that still waits for something gives up
	if err = cmp.Or(s.Wait(), err); err != nil {
		return "", withWords(err, stderr)
	}
	return file, nil
}

var errNoBinary = errors.New("no probe for this architecture")

// converse is our part of the talk with the script.
func (c *Conn) converse(stdin io.WriteCloser, stdout *bufio.Reader, probes Probes) (file string, err error) {
	arch, err := readTold(stdout, archPrefix)
	if err != nil {
		return "", err
	}
	b, ok := probes[arch]
	if !ok {
		return "", fmt.Errorf("%w: it is %q, there is %q", errNoBinary, arch, slices.Sorted(maps.Keys(probes)))
	}
	header := hex.EncodeToString(b.SHA256[:]) + " " + c.options.Leftovers.add() + "\n"
	// A script that gave up reads no more, which is not the error to report.
	io.Copy(stdin, io.MultiReader(strings.NewReader(header), bytes.NewReader(b.Gzip)))
	stdin.Close()
	return readTold(stdout, pathPrefix)
}

// maxTold bounds what is read for one line of the script.
const maxTold = 64 << 10

// readTold skips to the line that begins with prefix and returns its rest.
func readTold(r *bufio.Reader, prefix string) (string, error) {
	for seen := 0; seen < maxTold; {
		line, err := r.ReadSlice('\n')
		seen += len(line)
		if rest, ok := strings.CutPrefix(string(line), prefix); ok && err == nil {
			return strings.TrimSpace(rest), nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", fmt.Errorf("no %qline from the machine: %w", prefix, err)
		}
	}
	return "", fmt.Errorf("no %qline in the first %d bytes from the machine", prefix, maxTold)
}

// withWords puts what the script said in the place of a bare exit status, and
// beside any other error.
func withWords(err error, stderr *tail) error {
	said := stderr.String()
	exit := (*ssh.ExitError)(nil)
	switch {
	case said == "":
		return err
	case errors.As(err, &exit):
		return errors.New(said)
	}
	return fmt.Errorf("%w; it said: %s", err, said)
}
