package gce

import (
	"log/slog"
	"net/http"

	antipode "github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/inventory"
	"github.com/antipode-bench/antipode/lab/door/rack"
)

type Door struct{}

func New(regions []antipode.Region, project string, machines *rack.Rack, faults *fault.Injector, log *slog.Logger) *Door {
	return &Door{}
}
func (d *Door) Inventory() inventory.List { return nil }
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	http.NotFound(w, r)
}
