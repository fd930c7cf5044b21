package providers

import (
	"sync"
	"time"
)

// ListLag is how late a cloud's lists may show what a call has made. Seconds are
// common on EC2, whose documentation promises nothing.
const ListLag = 10 * time.Second

// Doubts remembers launches that ended in an error, by a name of the caller's.
// A call of theirs may have been cut off after the cloud had acted: what it
// made has no id, and only a list that is not too early finds it. The zero
// value is ready, and safe for concurrent use.
type Doubts struct {
	mu sync.Mutex
	at map[string]time.Time // of the latest
}

// Note remembers that a launch has ended in an error just now.
func (d *Doubts) Note(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at == nil {
		d.at = map[string]time.Time{}
	}
	d.at[name] = time.Now()
}

// Settled is from when on lists can be believed that show nothing; in the past
// or zero where there is no doubt.
func (d *Doubts) Settled(name string) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at, ok := d.at[name]; ok {
		return at.Add(ListLag)
	}
	return time.Time{}
}
