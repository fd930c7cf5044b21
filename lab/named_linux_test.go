package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ownState gives the test a folder of its own for named labs.
func ownState(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return filepath.Join(dir, "antipode", "labs")
}

func upLab(t *testing.T, name string) *state {
	t.Helper()
	if err := Up(t.Context(), name, Options{Rough: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Down(context.Background(), name); err != nil && !errors.Is(err, ErrNoLab) {
			t.Errorf("Down = %v", err)
		}
	})
	s, err := findState(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func pidOf(t *testing.T, s *state) int {
	t.Helper()
	pid, err := s.pid()
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestNamedLabStays(t *testing.T) {
	ownState(t)
	s := upLab(t, "stays")
	for range 2 { // leaving does not end it
		l, err := Enter(t.Context(), "stays")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Inventory(t.Context()); err != nil {
			t.Errorf("Inventory = %v", err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	if err := Up(t.Context(), "stays", Options{}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("second Up = %v; want that it is up already", err)
	}
	upLab(t, "another")
	if names, err := Names(); err != nil || !slices.Equal(names, []string{"another", "stays"}) {
		t.Errorf("Names = %v, %v", names, err)
	}
	namespaces := namespacesOf(t, pidOf(t, s))
	if err := Down(t.Context(), "stays"); err != nil {
		t.Errorf("Down = %v", err)
	}
	if left := processesIn(namespaces); len(left) > 0 {
		t.Errorf("left after Down: %v", left)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder after Down: %v; want none", err)
	}
	if err := Down(t.Context(), "stays"); !errors.Is(err, ErrNoLab) {
		t.Errorf("second Down = %v; want %v", err, ErrNoLab)
	}
}

func TestStoppedLabGoesDown(t *testing.T) {
	ownState(t)
	halt(t, pidOf(t, upLab(t, "stopped")))
	if err := Down(t.Context(), "stopped"); err != nil {
		t.Errorf("Down = %v", err)
	}
}

func TestDeadLabIsCleaned(t *testing.T) {
	cases := []struct {
		name string
		next func(t *testing.T) error
		want error
	}{
		{"by Enter", func(t *testing.T) error { _, err := Enter(t.Context(), "dead"); return err }, ErrNoLab},
		{"by Down", func(t *testing.T) error { return Down(t.Context(), "dead") }, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := ownState(t)
			killLab(t, upLab(t, "dead"))
			if names, err := Names(); err != nil || len(names) > 0 {
				t.Errorf("Names = %v, %v; want none", names, err)
			}
			if err := c.next(t); !errors.Is(err, c.want) {
				t.Errorf("got %v; want %v", err, c.want)
			}
			if left, _ := os.ReadDir(root); len(left) > 0 {
				t.Errorf("left in the folder: %v", left)
			}
		})
	}
	t.Run("by Up", func(t *testing.T) {
		ownState(t)
		killLab(t, upLab(t, "dead"))
		upLab(t, "dead")
		l, err := Enter(t.Context(), "dead")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	})
}

// killLab kills the inner of a named lab and waits until all of it is gone.
func killLab(t *testing.T, s *state) {
	t.Helper()
	l, err := Enter(t.Context(), filepath.Base(s.dir))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	before := hostState(t)
	v := &victim{inner: pidOf(t, s)}
	v.namespaces = namespacesOf(t, v.inner)
	kill(t, v.inner, syscall.SIGKILL)
	wantGone(t, v)
	wantHostState(t, before)
	<-l.Done()
	if l.Err() == nil {
		t.Error("Err of a killed lab is nil")
	}
}

func TestUpFailsClean(t *testing.T) {
	root := ownState(t)
	err := Up(t.Context(), "broken", Options{Command: []string{"/bin/sh", "-c", "echo out of order; exit 3"}})
	if err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("Up = %v; want what the inner said", err)
	}
	if left, _ := os.ReadDir(root); len(left) > 0 {
		t.Errorf("left in the folder: %v", left)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", "-a", "a b", "ä", strings.Repeat("a", 33)} {
		if err := Up(t.Context(), name, Options{Rough: true}); err == nil || !strings.Contains(err.Error(), "name") {
			t.Errorf("Up(%q) = %v; want an error about the name", name, err)
		}
	}
}

// TestSilentLab: a lab that is up and does not answer ends in the caller's words.
func TestSilentLab(t *testing.T) {
	ownState(t)
	s := upLab(t, "silent")
	l, err := Enter(t.Context(), "silent")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	halt(t, pidOf(t, s))
	patience := errors.New("patience is over")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, patience)
	defer cancel()
	if _, err := Enter(ctx, "silent"); !errors.Is(err, patience) {
		t.Errorf("Enter = %v, want that %v", err, patience)
	}
	if _, err := l.Inventory(ctx); !errors.Is(err, patience) {
		t.Errorf("Inventory = %v, want that %v", err, patience)
	}
}
