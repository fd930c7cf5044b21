package orchestrator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

const journalFile = "journal.jsonl"

// What a Record says. An intent is on disk before the call it announces.
const (
	RecordRun        = "run"        // RunID, Expires, Regions
	RecordResume     = "resume"     // Regions: another process goes on; with these
	RecordLaunch     = "launch"     // intent: Region, MachineType; Instead if it replaces a machine
	RecordLaunched   = "launched"   // Region, Machine
	RecordReady      = "ready"      // Region, Hello, Settings
	RecordAway       = "away"       // Region, Error: it may get ready again
	RecordLost       = "lost"       // Region, Error; Machine if one was made
	RecordRTT        = "rtt"        // From, To, RTT or Error
	RecordThroughput = "throughput" // From, To, Throughput or Error
	RecordStop       = "stop"       // Error: why nothing more is measured
	RecordDestroy    = "destroy"    // intent: Cloud, Regions
	RecordDestroyed  = "destroyed"  // Cloud, Left and Error: empty when all is gone
)

// Record is one line of journal.jsonl.
type Record struct {
	Time        time.Time              `json:"time"`
	What        string                 `json:"what"`
	RunID       string                 `json:"run_id,omitempty"`
	Expires     time.Time              `json:"expires,omitzero"`
	Cloud       string                 `json:"cloud,omitempty"`
	Region      string                 `json:"region,omitempty"` // id
	Regions     []string               `json:"regions,omitempty"`
	MachineType string                 `json:"machine_type,omitempty"`
	Machine     *providers.Machine     `json:"machine,omitempty"`
	Instead     *providers.Machine     `json:"instead,omitempty"`
	Hello       *wire.Hello            `json:"hello,omitempty"`
	Settings    []remote.Setting       `json:"settings,omitempty"`
	From        string                 `json:"from,omitempty"`    // id
	To          string                 `json:"to,omitempty"`      // id
	TookMs      float64                `json:"took_ms,omitempty"` // the test, of both directions if they were one
	RTT         *wire.RTTResult        `json:"rtt,omitempty"`
	Throughput  *wire.ThroughputResult `json:"throughput,omitempty"`
	UDP         *wire.UDPResult        `json:"udp,omitempty"`
	Loaded      *wire.RTTResult        `json:"loaded,omitempty"`  // beside the throughput
	Assumed     int64                  `json:"assumed,omitempty"` // bytes that a test which ended without a count may have sent
	Left        []providers.Resource   `json:"left,omitempty"`
	Error       string                 `json:"error,omitempty"`
}

// journal appends records to a file. It is safe for concurrent use.
type journal struct {
	file   syncedFile
	ledger *ledger // that follows; may be nil

	mu      sync.Mutex // guards what follows
	written int        // records

	syncing sync.Mutex // taken before mu; guards what follows
	synced  int        // records that are on disk
}

// syncedFile is an *os.File, as far as a journal needs it.
type syncedFile interface {
	io.WriteCloser
	Sync() error
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
}

// createJournal makes a new journal, and sees to it that a crash keeps its name.
// The journal is the run's lock too: only one process at a time has it open.
func createJournal(dir string) (*journal, error) {
	file, err := os.OpenFile(filepath.Join(dir, journalFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	if err := errors.Join(lock(file), syncDir(dir)); err != nil {
		return nil, errors.Join(fmt.Errorf("create journal: %w", err), file.Close())
	}
	return &journal{file: file}, nil
}

// write returns when the record is on disk. Only of measurements it does not
// wait for that: their rows are, in results.csv.
func (j *journal) write(r Record) error {
	n, err := j.append(r)
	if err == nil && r.What != RecordRTT && r.What != RecordThroughput {
		err = j.sync(n)
	}
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// append returns how many records there are with this one.
func (j *journal) append(r Record) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.Time = time.Now().UTC()
	line, err := json.Marshal(r)
	if err == nil {
		err = j.writeWhole(append(line, '\n'))
	}
	j.written++
	if j.ledger != nil && err == nil {
		j.ledger.enter(r)
	}
	return j.written, err
}

// writeWhole writes a record or nothing: of one that a full disk cut short what is
// there is taken away, or the next would follow what is no record.
func (j *journal) writeWhole(line []byte) error {
	n, err := j.file.Write(line)
	if err == nil || n == 0 {
		return err
	}
	info, staterr := j.file.Stat()
	if staterr != nil {
		return errors.Join(err, staterr)
	}
	return errors.Join(err, j.file.Truncate(info.Size()-int64(n)))
}

// sync returns when the first n records are on disk. Records that came while
// another sync went on share the next one: many regions are launched at once,
// and none may have to wait for a sync of each.
func (j *journal) sync(n int) error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	if j.synced >= n {
		return nil
	}
	j.mu.Lock()
	written := j.written
	j.mu.Unlock()
	if err := j.file.Sync(); err != nil {
		return err
	}
	j.synced = written
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// syncDir puts a directory's names on disk, where the system has a way to.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
