//go:build !linux

package lab

import (
	"context"
	"fmt"
	"os"
)

// Start fails: there is no lab here.
func Start(context.Context, Options) (*Lab, error) { return nil, ErrUnsupported }

// Up fails: there is no lab here.
func Up(context.Context, string, Options) error { return ErrUnsupported }

// Enter fails: there is no lab here.
func Enter(context.Context, string) (*Lab, error) { return nil, ErrUnsupported }

// Down fails: there is no lab here.
func Down(context.Context, string) error { return ErrUnsupported }

// Names fails: there is no lab here.
func Names() ([]string, error) { return nil, ErrUnsupported }

// Exec fails: there is no lab here.
func (l *Lab) Exec(context.Context, string, []string, bool) (int, error) { return 0, ErrUnsupported }

// InnerMain fails: there is no lab here.
func InnerMain([]string) int {
	fmt.Fprintln(os.Stderr, ErrUnsupported)
	return 1
}
