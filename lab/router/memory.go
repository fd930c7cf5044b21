package router

// maxMemory bounds the bytes of all packets on their way. Every shaped link is
// bounded by its queue long before; this is for worlds without rates.
const maxMemory = 512 << 20

// keptPerSize is how many chunks of each size wait for their next use.
const keptPerSize = 64

// chunk holds a packet's bytes. Pieces of one packet share it.
type chunk struct {
	bytes []byte
	users int
	size  int // index of the size
}

// memory hands out chunks of few sizes, so that an acknowledgement does not
// occupy the room of a super-packet. The zero memory is ready.
type memory struct {
	free [len(chunkSizes)][]*chunk
	used int // bytes
}

var chunkSizes = [...]int{2 << 10, 16 << 10, 66 << 10}

// get returns a chunk of at least n bytes with one user.
func (m *memory) get(n int) *chunk {
	size := 0
	for chunkSizes[size] < n {
		size++
	}
	m.used += chunkSizes[size]
	if free := m.free[size]; len(free) > 0 {
		c := free[len(free)-1]
		m.free[size] = free[:len(free)-1]
		c.users = 1
		return c
	}
	return &chunk{bytes: make([]byte, chunkSizes[size]), users: 1, size: size}
}

// put ends one user's use of the chunk.
func (m *memory) put(c *chunk) {
	if c.users--; c.users > 0 {
		return
	}
	m.used -= chunkSizes[c.size]
	if len(m.free[c.size]) < keptPerSize {
		m.free[c.size] = append(m.free[c.size], c)
	}
}

func (m *memory) full() bool { return m.used > maxMemory }

// shrink moves b, a part of c, to a smaller chunk if there is one for it.
func (m *memory) shrink(c *chunk, b []byte) (*chunk, []byte) {
	if len(b) > chunkSizes[len(chunkSizes)-2] {
		return c, b
	}
	small := m.get(len(b))
	b = small.bytes[:copy(small.bytes, b)]
	m.put(c)
	return small, b
}
