package remote

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
)

// Leftovers are the names of folders that were pushed to a machine and may still
// be there, over all connections to it that share them. Safe for concurrent use.
type Leftovers struct {
	mu    sync.Mutex
	names []string
}

// add makes the name of a new folder, which nobody else can foresee.
func (l *Leftovers) add() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	name := "antipode." + hex.EncodeToString(b[:])
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names = append(l.names, name)
	return name
}

func (l *Leftovers) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.names)
}

// gone forgets names: nothing by them is there any more.
func (l *Leftovers) gone(names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names = slices.DeleteFunc(l.names, func(name string) bool { return slices.Contains(names, name) })
}
