package machine

import (
	"fmt"
	"os"

	"github.com/antipode-bench/antipode/lab/seqpacket"
)

// control is the machine's end of the socket to the hypervisor.
type control struct{ conn *seqpacket.Conn }

func openControl(fd uintptr) (control, error) {
	f := os.NewFile(fd, "control")
	if f == nil {
		return control{}, fmt.Errorf("control socket: descriptor %d is not open", fd)
	}
	conn, err := seqpacket.FromFile(f)
	return control{conn}, err
}

// receiveBoot waits for the one Boot. io.EOF: the hypervisor is gone.
func (c control) receiveBoot() (Boot, error) {
	var b Boot
	files, err := c.conn.Receive(&b)
	seqpacket.CloseAll(files)
	if err != nil {
		return Boot{}, fmt.Errorf("receive boot: %w", err)
	}
	return b, b.validate()
}

// report tells the hypervisor; files ride along.
func (c control) report(r Report, files ...*os.File) error {
	if err := c.conn.Send(r, files...); err != nil {
		return fmt.Errorf("report %s: %w", r.Kind, err)
	}
	return nil
}

// waitHangUp returns when the hypervisor has closed its end or is gone, or has
// said something, which it never does after the Boot.
func (c control) waitHangUp() {
	files, _ := c.conn.Receive(new(any))
	seqpacket.CloseAll(files)
}
