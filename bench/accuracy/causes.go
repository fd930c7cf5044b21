//go:build linux

package main

// easing is a path with one constraint less.
type easing struct {
	cause string // as in limited_by
	path  Path
}

// gain is by how much an eased constraint must raise the goodput to be a cause.
const gain = 1.10

// easings are the paths with one constraint eased: loss gone, buffers huge, a
// rate twice what it was. Who gains nothing from twice gains nothing from more,
// and it leaves the computer some room.
func (p Path) easings() (list []easing) {
	add := func(cause string, change func(*Path)) {
		eased := p
		change(&eased)
		list = append(list, easing{cause, eased})
	}
	if p.LossRatio > 0 {
		add("loss", func(q *Path) { q.LossRatio = 0 })
	}
	if p.FlowBps > 0 {
		add("flow-cap", func(q *Path) { q.FlowBps *= 2; q.MachineBps = max(q.MachineBps, q.FlowBps) })
	}
	if p.FlowBps == 0 || p.MachineBps <= p.FlowBps*gain {
		add("rate-cap", func(q *Path) { q.MachineBps *= 2; q.PoliceBps *= 2; q.BaselineBps *= 2 })
	}
	if p.mayBind(p.ReceiveBytes, stockReceiveBytes) {
		add("receive-window", func(q *Path) { q.ReceiveBytes = hugeBytes })
	}
	if p.mayBind(p.SendBytes, stockSendBytes) {
		add("send-buffer", func(q *Path) { q.SendBytes = hugeBytes })
	}
	if p.RateBps > 0 {
		add("application", func(q *Path) { q.RateBps = 0 })
	}
	return list
}

// mayBind says whether a buffer can be what limits the path: more than three
// times what a round trip at the path's rate holds is enough, with all of the
// kernel's overhead.
func (p Path) mayBind(bytes, stock int) bool {
	const margin = 5 // ms that a round trip may take longer
	inFlight := p.capBps() / 8 * (p.RTTMs + margin) / 1000
	return float64(orStock(bytes, stock)) < 3*inFlight
}

// goodput is a transfer's, as the router saw it after the beginning.
func (t *transfer) goodput() float64 { return t.Carried.bps(t.Carried.end()/3, t.Carried.end()) }

// causes are the true ones: whose easing raised the goodput by enough. ok is
// false if not all easings were measured.
func (r *record) causes() (found []string, ok bool) {
	if r.Long == nil {
		return nil, false
	}
	base := r.Long.goodput()
	for _, e := range r.Path.easings() {
		t := r.Eased[e.cause]
		if t == nil {
			return nil, false
		}
		if t.goodput() >= gain*base {
			found = append(found, e.cause)
		}
	}
	return found, true
}
