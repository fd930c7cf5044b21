package ec2

import (
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	antipode "github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/inventory"
	"github.com/antipode-bench/antipode/lab/door/rack"
)

// Account is the number of the account behind the door.
const Account = "000000000042"

// Door is the AWS of a lab. Safe for concurrent use.
type Door struct {
	rack     *rack.Rack
	faults   *fault.Injector
	log      *slog.Logger
	regions  map[string]*region
	homes    map[string]*region // of partitions, which every account has: they say who one is in a world without them too
	sessions sessions
	ranges   atomic.Uint32 // of IPv6 that were given
}

// New returns a door to the AWS regions among those given.
func New(regions []antipode.Region, machines *rack.Rack, faults *fault.Injector, log *slog.Logger) *Door {
	d := &Door{rack: machines, faults: faults, log: log, regions: map[string]*region{}, homes: map[string]*region{}}
	for partition, name := range map[string]string{"aws": "us-east-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"} {
		d.homes[name] = newRegion(d, antipode.Region{Cloud: "aws", Name: name, Partition: partition})
	}
	for _, r := range regions {
		if r.Cloud == "aws" {
			d.regions[r.Name] = newRegion(d, r)
		}
	}
	return d
}

// Inventory lists everything that exists, in no promised order.
func (d *Door) Inventory() inventory.List {
	var list inventory.List
	for _, r := range d.regions {
		list = append(list, r.inventory()...)
	}
	return list
}

// ServeHTTP answers one call of any service in any region.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{door: d, id: d.requestID(), dialect: dialectFor("ec2")}
	next, err := c.read(r)
	if err != nil {
		c.fail(w, err)
		return
	}
	deal := d.faults.Call
	if c.dryRun() {
		deal = d.faults.Rehearsal
	}
	kind := deal(fault.Place{Cloud: "aws", Region: c.region.name, Zone: c.zone}, c.action)
	d.log.Debug("aws call", "region", c.region.name, "call", c.action, "fault", string(kind))
	d.faults.Serve(kind, w, r, func(w http.ResponseWriter, _ *http.Request) {
		if f := refusal(kind); f != nil {
			c.fail(w, f)
			return
		}
		c.lateCapacity = kind == fault.LateCapacity
		answer, err := next(c)
		if err != nil {
			c.fail(w, err)
			return
		}
		c.dialect.answer(w, c, answer)
	})
}

// refusal is the error of a call that a fault refuses.
func refusal(kind fault.Kind) *failure {
	switch kind {
	case fault.Throttle:
		return &failure{http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded."}
	case fault.Error500:
		return &failure{http.StatusInternalServerError, "InternalError", "An internal error has occurred"}
	case fault.Denied:
		return &failure{http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation."}
	case fault.Capacity:
		return &failure{http.StatusInternalServerError, "InsufficientInstanceCapacity",
			"We currently do not have sufficient capacity in the Availability Zone you requested."}
	case fault.Quota:
		return bad("VcpuLimitExceeded",
			"You have requested more vCPU capacity than your current vCPU limit of 0 allows for the instance bucket that the specified instance type belongs to.")
	default:
		return nil
	}
}

func (d *Door) requestID() string {
	a, b := d.rack.Uint64(), d.rack.Uint64()
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&0xffffffffffff)
}

// newID returns a fresh id such as "i-0123456789abcdef0".
func (d *Door) newID(prefix string) string { return fmt.Sprintf("%s-0%016x", prefix, d.rack.Uint64()) }

// fixedID returns the id of something that AWS made, the same in every lab.
func fixedID(prefix string, of ...string) string {
	h := fnv.New64a()
	for _, s := range of {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return fmt.Sprintf("%s-0%016x", prefix, h.Sum64())
}

// sortedRegions returns the regions of one partition by name: no account sees
// another partition.
func (d *Door) sortedRegions(partition string) []*region {
	var list []*region
	for _, r := range d.regions {
		if r.partition == partition {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *region) int { return strings.Compare(a.name, b.name) })
	return list
}
