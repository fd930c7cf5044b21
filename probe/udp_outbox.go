//go:build linux

package probe

import "time"

const (
	// maxSegments is the most datagrams that every kernel with UDP_SEGMENT cuts
	// a message into (UDP_MAX_SEGMENTS of Linux 4.18), maxMessageBytes the
	// longest message that fits any of its packets.
	maxSegments     = 64
	maxMessageBytes = 65_000
)

// outbox makes and sends the datagrams of a session, all of one length.
type outbox struct {
	*batch
	tag      datagramTag
	bytes    int // of a datagram
	segments int // datagrams of a message
}

// newOutbox sends single datagrams, or with offload as many in a message as the
// kernel takes.
func newOutbox(socket *udpSocket, tag datagramTag, bytes int, offload bool) *outbox {
	o := &outbox{tag: tag, bytes: bytes, segments: 1}
	messages := datagramBatch
	if offload {
		messages, o.segments = 1, max(1, min(maxSegments, maxMessageBytes/bytes))
	}
	o.batch = newBatch(socket, messages, o.segments*bytes)
	data := filler()
	for i, b := range o.buffers {
		copy(b, data)
		if o.segments > 1 {
			o.giveControl(i, segmentControl(bytes))
		}
	}
	return o
}

// room is how many datagrams it sends at a time.
func (o *outbox) room() int64 { return int64(len(o.messages) * o.segments) }

// post sends n datagrams, at most room, numbered from first, which leave at now,
// and returns how many the kernel took.
func (o *outbox) post(first uint64, n int64, now time.Duration) (int64, error) {
	messages := 0
	for left := n; left > 0; messages++ {
		count := min(int(left), o.segments)
		for i := range count {
			o.tag.put(o.buffers[messages][i*o.bytes:], datagramHeader{seq: first, sent: now})
			first++
		}
		o.vectors[messages].SetLen(count * o.bytes)
		left -= int64(count)
	}
	sent, err := o.send(messages)
	return min(n, int64(sent*o.segments)), err
}
