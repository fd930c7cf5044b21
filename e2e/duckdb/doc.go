// Package duckdb reads what `antipode export` writes with a program that is not
// ours: DuckDB. It is a module of its own, so that the project does not depend
// on a database, nor on a C compiler to be built.
package duckdb
