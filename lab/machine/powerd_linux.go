package machine

import (
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"
)

// powerSocket is where the shutdown command reaches the first process. The name
// is abstract: it belongs to the machine's network namespace.
const powerSocket = "@antipode-machine-power"

// powerTimeout bounds one exchange on the socket.
const powerTimeout = 5 * time.Second

// powerd ends or reboots the machine when the time has come. off and halt are
// called at most once.
type powerd struct {
	off, halt, reboot func()
	mu                sync.Mutex
	timer             *time.Timer
}

// listen answers power requests from now on.
func (p *powerd) listen() error {
	l, err := net.Listen("unix", powerSocket)
	if err != nil {
		return fmt.Errorf("power: %w", err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				time.Sleep(100 * time.Millisecond) // out of descriptors
				continue
			}
			go p.answer(conn)
		}
	}()
	return nil
}

// answer handles one request; closing the connection says that it is noted.
func (p *powerd) answer(conn net.Conn) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(powerTimeout))
	var req powerRequest
	if json.NewDecoder(conn).Decode(&req) == nil {
		p.schedule(req)
	}
}

// schedule replaces what was scheduled before.
func (p *powerd) schedule(req powerRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	switch req.Action {
	case powerOff:
		p.timer = time.AfterFunc(req.After, p.off)
	case powerHalt:
		p.timer = time.AfterFunc(req.After, p.halt)
	case powerReboot:
		p.timer = time.AfterFunc(req.After, p.reboot)
	}
}

// requestPower asks the machine's first process, from any other.
func requestPower(req powerRequest) error {
	conn, err := net.DialTimeout("unix", powerSocket, powerTimeout)
	if err != nil {
		return fmt.Errorf("power: %w", err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(powerTimeout))
	if err := json.NewEncoder(conn).Encode(req); err != nil {
		return fmt.Errorf("power: %w", err)
	}
	var b [1]byte
	conn.Read(b[:]) // until it is noted
	return nil
}
