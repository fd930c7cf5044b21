// Package strictyaml reads the YAML files that people write, and says everything
// that is wrong with one at once, each on a line of the form "name:line: what":
// unknown, repeated and missing keys, and whatever its callers find in the
// values. They are the readers of regions, hosts, worlds and faults; what the
// keys mean only they know.
package strictyaml
