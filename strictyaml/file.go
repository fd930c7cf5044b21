package strictyaml

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/antipode-bench/antipode/nearest"
)

// File is a file being read, and what is wrong with it so far.
type File struct {
	Name string // what errors begin with
	errs []error
}

// Errorf notes what is wrong in a line; 0 is a line that is not known.
func (f *File) Errorf(line int, format string, args ...any) {
	at := f.Name
	if line > 0 {
		at = fmt.Sprintf("%s:%d", f.Name, line)
	}
	f.errs = append(f.errs, fmt.Errorf("%s: %w", at, fmt.Errorf(format, args...)))
}

// Err is all that is wrong, a line each, or nil.
func (f *File) Err() error { return errors.Join(f.errs...) }

// Errors are what is wrong, one by one.
func (f *File) Errors() []error { return f.errs }

// Root reads the text; ok is false, with the reason noted, if it is no YAML.
func (f *File) Root(data []byte) (root *yaml.Node, ok bool) {
	root = &yaml.Node{}
	if err := yaml.Load(data, root); err != nil {
		f.yamlError(0, err)
		return root, false
	}
	if root.Kind == yaml.DocumentNode && len(root.Content) == 1 {
		root = root.Content[0]
	}
	return root, true
}

// List reads a file that has one key, under which there is a list of at least
// one item, and returns the items. None is an error that was noted.
func (f *File) List(data []byte, key, item string) []*yaml.Node {
	root, ok := f.Root(data)
	if !ok {
		return nil
	}
	if _, ok := f.Keys(root, "the file", []string{key}, nil); !ok {
		return nil
	}
	list := root.Content[1]
	if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		f.Errorf(list.Line, "%s must be a list of at least one %s", key, item)
		return nil
	}
	return list.Content
}

// Keys returns the line of every key of a mapping; ok is false unless they are
// known ones, each once, with every required one among them.
func (f *File) Keys(n *yaml.Node, what string, required, optional []string) (lines map[string]int, ok bool) {
	if n.Kind != yaml.MappingNode {
		f.Errorf(n.Line, "%s must be a mapping of %s", what, strings.Join(required, ", "))
		return nil, false
	}
	before := len(f.errs)
	known := slices.Concat(required, optional)
	lines = map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		_, twice := lines[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			f.Errorf(key.Line, "unknown key %q, %s", key.Value, expected(key.Value, known))
		case twice:
			f.Errorf(key.Line, "key %q is there twice", key.Value)
		}
		lines[key.Value] = key.Line
	}
	for _, key := range required {
		if _, there := lines[key]; !there {
			f.Errorf(n.Line, "%s lacks %q", what, key)
		}
	}
	return lines, len(f.errs) == before
}

// listed is how many keys a message names; of more it names the nearest.
const listed = 12

func expected(key string, known []string) string {
	if len(known) > listed && key != "" {
		return "the nearest is " + nearest.Of(key, known)
	}
	return "want one of " + strings.Join(known, ", ")
}

// Load fills to, a pointer, with the values of a node; ok is false, with the
// reason noted, if they don't fit or have no place there.
func (f *File) Load(n *yaml.Node, to any) (ok bool) {
	if err := n.Load(to, yaml.WithKnownFields()); err != nil {
		f.yamlError(n.Line, err)
		return false
	}
	return true
}

// yamlError notes an error of the YAML library, which knows the line better than
// the caller when it says one.
func (f *File) yamlError(line int, err error) {
	if several, ok := errors.AsType[*yaml.LoadErrors](err); ok && len(several.Errors) > 0 {
		for _, e := range several.Errors {
			f.yamlError(line, e)
		}
		return
	}
	one, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		f.Errorf(line, "%w", err)
		return
	}
	if one.Mark.Line > 0 {
		line = one.Mark.Line
	}
	f.Errorf(line, "%s", one.Message)
}
