// Package packet takes IP packets apart as the kernel hands them to a userspace
// router: each behind a virtio-net header, which lets one super-packet of up
// to 64 KB stand for many segments. It reads headers, counts the segments a
// super-packet stands for, and cuts one in two at a segment boundary. It does
// no I/O and keeps nothing.
package packet
