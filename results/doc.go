// Package results owns the row, what one directed pair of regions measured,
// and the files rows are kept in. It knows nothing of how rows come about;
// statistics over them belong to package analysis.
package results
