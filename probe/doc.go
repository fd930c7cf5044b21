// Package probe measures between two Linux machines: TCP goodput, UDP round
// trips and UDP throughput. It is all there is in the binary pushed to each
// machine of a run. An Agent takes the controller's requests (package wire) from
// its standard input and carries them out with two parts that also stand alone:
// a Server, which other machines measure against, and a Client, which measures
// against a Server. It knows addresses and secrets, never clouds, regions or SSH.
//
// # Between two probes
//
// A Server has one port, TCP and UDP. Who measures is the client, and the
// sender; who is measured against only receives and counts, or echoes.
//
// Every TCP connection opens with 64 bytes from the client (type hello). A
// control connection proves the run's secret both ways before anything else:
//
//	client  hello: magic, nonce c                                   64 bytes
//	server  nonce s, HMAC-SHA256(secret, "server", c, s)            64 bytes
//	client  HMAC-SHA256(secret, "client", c, s)                     32 bytes
//
// The server has sent no more than it received, so it amplifies nothing; a
// first byte that is not the magic's ends the connection. Both derive the
// session's key and id from the secret and both nonces: what was recorded in
// one session is worthless in the next. This proves who speaks; it does not
// encrypt or protect what follows from somebody on the path.
//
// From there the control connection carries JSON lines of at most 64 KB (1 MB for a result): one
// order from the client, then news from the server. It lives as long as its
// test, and the test as long as it: when either process dies, its kernel says
// so at once; when a machine vanishes without a word, the other side notices
// that the news, due every 100 ms, have stayed away for silenceLimit.
//
// Throughput: the client asks for N streams, waits for "ready", and opens N
// data connections whose hello holds session id, stream number and
// HMAC(session key, "data", number); each number is taken once. The server
// answers HMAC(session key, "open", number), and when all are open all streams
// start together. The server discards and counts, sends its samples along as
// news, and its final count when the client has half-closed every stream.
//
// In reverse the client asks the server to send, opens the data connections in
// the same way, says "ready", and takes the receiver's part, news and all. The
// server sends no more than the order's limits, to those connections only, and
// ends with its result, which the client holds against its own count.
//
// Round trips: the client asks for an echo, waits for "ready", and sends UDP
// packets of 64 bytes (type packet), each with the session's id, a sequence
// number and a truncated HMAC. The server answers a valid packet of the
// session's own address once, with one of the same size, and nothing else ever.
// The answer holds when its query came, how long it lay there, and how many
// answers went before it. A sized query is padded, to learn whether the path
// carries packets of its size, and its answer is not: never more is sent than
// came. At the end the server tells on the control connection what only it saw:
// how many queries came, which came again, and when each answer left its kernel.
//
// # What a round trip is
//
// The kernels of both machines stamp what arrives and what leaves, by the wall
// clock; their stamps of one machine are subtracted from each other and never
// from another's. A wall clock may be set meanwhile, which the monotonic clock
// beside it betrays: stamps that can't be true are not used, and a result that
// lacks more than a few says that its times are of another kind (see times).
//
// UDP throughput: the client asks for it, waits for "ready", and knocks: from the
// port its datagrams will leave from it sends the server a hello that holds the
// session's id and HMAC(session key, "knock"). By the first knock from the
// session's own address the server learns the port, whatever address translators
// made of it, and connects a socket of the session's own to it, on the one port
// that firewalls admit. Trial datagrams of full length go with the knocks; when
// one has come to that socket, and the news of it back, the test begins. The
// server sends no UDP at all. Each datagram begins with 24 bytes (type
// datagramHeader): a 64-bit tag that only the session's two ends know, a sequence
// number, and when it left. A MAC over each would cost more than sending it; who
// can read the tag on the path could as well drop datagrams. When all are sent
// the client says how many over the control connection, the server waits until
// no more come, and says what it counted.
//
// A sender without a rate goes as fast as the receiving program reads: when
// datagrams wait in its socket the server says so, and the sender takes a
// breather. Losses on the path change nothing.
//
// With segmentation offload (UDP_SEGMENT, UDP_GRO) the kernels carry up to 64
// datagrams as one. Every datagram keeps its header, and the server reads them
// all: what a receiving kernel puts together came one after the other, but with
// holes, doubles and out of order if the path made it so. Only such a count is
// right whatever was lost where.
//
// # Which part of a transfer counts
//
// Bytes and the mean rate are the receiver's own counts over its own clock,
// first byte to last. The steady part lies between two byte marks that the
// sender chooses from its kernel's TCP_INFO (see trace.Log.Steady), and the
// receiver's samples say when each was passed, so that no clock is compared
// with another machine's. One thing the receiver's application can't see:
// bytes reach it in order, and so in lumps after a loss, a round trip or more
// late. Where repairs are under way at a mark, the part's rate is therefore
// that at which the receiver's kernel acknowledged bytes, each once, beyond
// the holes too.
//
// A test may end by itself, as soon as its steady rate is known (see
// trace.Rule): what it would have sent in the rest of its time costs money and
// says nothing new.
//
// The package is for Linux only.
package probe
