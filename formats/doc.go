// Package formats reads the files that results come in, our own and other
// tools', tells them apart by what is in them, and turns them into rows with
// the units that each kind of file really has. It keeps lines that are no rows
// apart, with the reason. It also writes Parquet and JSON lines for programs
// that read tables. Commands call it; it works nothing out.
package formats
