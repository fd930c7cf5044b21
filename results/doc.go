// Package results owns the row, what one directed pair of regions measured,
// and the files rows are kept in. It writes a line at a time, so that a killed
// run keeps what it measured, and reads nothing it does not understand. It
// knows nothing of how rows come about; statistics over them belong to package
// analysis.
package results
