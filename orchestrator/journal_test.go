package orchestrator

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// full is a disk that has room for so many bytes more, until some are freed.
type full struct {
	*os.File
	room int
}

func (f *full) Write(p []byte) (int, error) {
	if len(p) <= f.room {
		f.room -= len(p)
		return f.File.Write(p)
	}
	n, err := f.File.Write(p[:f.room])
	if f.room = 0; err == nil {
		err = syscall.ENOSPC
	}
	return n, err
}

// TestJournalOnFullDisk: a record that had no room is an error, and no obstacle for
// those that follow when there is some again.
func TestJournalOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	j, err := createJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	disk := &full{File: j.file.(*os.File), room: 1 << 20}
	j.file = disk
	write := func(region string, want bool) {
		t.Helper()
		if err := j.write(Record{What: RecordLaunch, Region: region}); (err == nil) != want {
			t.Errorf("write of %s: %v", region, err)
		}
	}
	write("aws:eu-west-1", true)
	for room := range 40 {
		disk.room = room
		write("aws:us-east-1", false)
	}
	disk.room = 1 << 20
	write("gcp:us-west1", true)
	data, err := os.ReadFile(filepath.Join(dir, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	records, whole, err := parseJournal(data)
	if err != nil || whole != len(data) || len(records) != 2 || records[1].Region != "gcp:us-west1" {
		t.Errorf("%d records, %d of %d bytes, %v:\n%s", len(records), whole, len(data), err, data)
	}
}
