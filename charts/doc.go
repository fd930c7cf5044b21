// Package charts draws results: against great-circle distance (RTT with the
// light-in-fibre floor, and goodput on a logarithmic axis, each with its fitted
// line), as matrices of regions, as distributions, on a map, and over time within
// tests. Rows in, image bytes out: no files, no clock, and the same rows give
// the same SVG. Commands and reports call it; it must not know where rows come
// from nor where images go.
package charts
