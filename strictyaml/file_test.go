package strictyaml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/strictyaml"
)

type pet struct {
	Name string
	Legs int
}

// read reads a file of pets.
func read(text string) ([]pet, error) {
	f := strictyaml.File{Name: "pets.yaml"}
	var pets []pet
	for _, n := range f.List([]byte(text), "pets", "pet") {
		lines, ok := f.Keys(n, "a pet", []string{"name"}, []string{"legs"})
		var p pet
		if !ok || !f.Load(n, &p) {
			continue
		}
		if p.Legs < 0 {
			f.Errorf(lines["legs"], "legs %d: %w", p.Legs, errNegative)
		}
		pets = append(pets, p)
	}
	return pets, f.Err()
}

var errNegative = errors.New("fewer than none")

func TestRead(t *testing.T) {
	got, err := read("pets:\n- name: cat\n  legs: 4\n- name: fish\n")
	if diff := cmp.Diff([]pet{{"cat", 4}, {"fish", 0}}, got); diff != "" || err != nil {
		t.Errorf("pets (-want +got), %v:\n%s", err, diff)
	}
}

func TestRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"NoYAML":     {"pets: [", []string{"pets.yaml:2: "}},
		"Empty":      {"", []string{"pets.yaml: yaml: no documents"}},
		"NoMapping":  {"- cat", []string{"pets.yaml:1: the file must be a mapping of pets"}},
		"Unknown":    {"pets:\n- name: cat\nplants: []", []string{`pets.yaml:3: unknown key "plants", want one of pets`}},
		"NoList":     {"pets: cat", []string{"pets.yaml:1: pets must be a list of at least one pet"}},
		"EmptyList":  {"pets: []", []string{"pets.yaml:1: pets must be a list of at least one pet"}},
		"NoPet":      {"pets:\n- cat", []string{"pets.yaml:2: a pet must be a mapping of name"}},
		"Missing":    {"pets:\n- legs: 4", []string{`pets.yaml:2: a pet lacks "name"`}},
		"WrongType":  {"pets:\n- name: cat\n  legs: four", []string{"pets.yaml:3: "}},
		"Callers":    {"pets:\n- name: cat\n  legs: -1", []string{"pets.yaml:3: legs -1: fewer than none"}},
		"AllAtOnce":  {"pets:\n- name: cat\n  leg: 4\n- legs: 3", []string{`pets.yaml:3: unknown key "leg"`, `pets.yaml:4: a pet lacks "name"`}},
		"KeyAsAList": {"pets:\n- name: cat\n  [legs]: 4", []string{`pets.yaml:3: unknown key ""`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(tt.text)
			if err == nil {
				t.Fatal("no error")
			}
			said := strings.Split(err.Error(), "\n")
			if len(said) != len(tt.want) {
				t.Fatalf("%d errors, want %d:\n%v", len(said), len(tt.want), err)
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(said[i], want) {
					t.Errorf("error %q, want %q", said[i], want)
				}
			}
		})
	}
	if _, err := read("pets:\n- name: cat\n  legs: -1"); !errors.Is(err, errNegative) {
		t.Errorf("%v does not wrap its cause", err)
	}
}
