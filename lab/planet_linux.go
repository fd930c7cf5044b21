package lab

import (
	"context"
	"log/slog"
)

// planet is what lives in the inner: the router, the machines, the doors.
type planet struct {
	endpoints Endpoints
}

func newPlanet(context.Context, setup, []byte, *slog.Logger) (*planet, error) {
	return &planet{}, nil
}

func (p *planet) inventory() ([]byte, error) { return []byte("{}"), nil }
func (p *planet) truth() ([]byte, error)     { return nil, nil }
func (p *planet) world() ([]byte, error)     { return nil, nil }
func (p *planet) counts() ([]byte, error)    { return []byte("{}"), nil }
