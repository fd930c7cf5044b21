// Package units writes figures with their units for people, and reads numbers of
// bytes from them. Figures keep three digits; prefixes are decimal unless they
// say otherwise (KiB).
package units
