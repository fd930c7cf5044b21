package gcp

import "sync"

// locks are mutexes by name, made when first asked for. They are few and small,
// so they are kept.
type locks struct {
	mu    sync.Mutex
	named map[string]*sync.Mutex
}

// lock returns how to unlock.
func (l *locks) lock(name string) (unlock func()) {
	l.mu.Lock()
	if l.named == nil {
		l.named = map[string]*sync.Mutex{}
	}
	m := l.named[name]
	if m == nil {
		m = &sync.Mutex{}
		l.named[name] = m
	}
	l.mu.Unlock()
	m.Lock()
	return m.Unlock
}
