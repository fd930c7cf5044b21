package antipode_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/antipode-bench/antipode"

// arrows says which rooms of the project each room may import, as
// docs/design.md draws it. A room is a folder and everything below it that has
// no line of its own, and may import itself; "." is the root package, "*" is
// everything.
var arrows = map[string][]string{
	".":                      {"strictyaml"},
	"nearest":                {},
	"strictyaml":             {"nearest"},
	"units":                  {},
	"allowance":              {"strictyaml"},
	"prices":                 {".", "strictyaml"},
	"cmd/antipode":           {"*"},
	"cmd/antipode-probe":     {"probe", "probe/trace", "probe/wire", "units"},
	"cmd/antipode-machine":   {"lab/command", "lab/machine"},
	"orchestrator/plan":      {".", "nearest", "prices", "results"},
	"orchestrator":           {".", "orchestrator/plan", "providers", "remote", "probe/wire", "results"},
	"cleanup":                {"providers"},
	"providers":              {"."},
	"providers/aws":          {".", "providers"},
	"providers/gcp":          {".", "providers"},
	"providers/hosts":        {".", "providers", "strictyaml"},
	"providers/providertest": {".", "providers"},
	"remote":                 {"probe/wire"},
	"probe":                  {"probe/host", "probe/trace", "probe/wire"},
	"probe/host":             {"probe/trace"},
	"probe/trace":            {},
	"probe/wire":             {"probe/trace"},
	"results":                {".", "probe/trace", "probe/wire", "units"},
	"formats":                {".", "results"},
	"analysis":               {".", "allowance", "results", "units"},
	"charts":                 {".", "results", "analysis", "units"},
	"page":                   {".", "results", "analysis", "units"},
	"lab":                    {".", "results", "lab/command", "lab/door", "lab/hypervisor", "lab/router", "lab/seqpacket", "lab/vm", "lab/world", "lab/machine", "strictyaml"},
	"lab/command":            {},
	"lab/door":               {".", "lab/vm"},
	"lab/door/doortest":      {"lab/door", "lab/vm"},
	"lab/door/model":         {},
	"lab/hypervisor":         {".", "lab/machine", "lab/router", "lab/seqpacket", "lab/vm"},
	"lab/machine":            {"lab/seqpacket"},
	"lab/router":             {".", "lab/vm", "lab/world"},
	"lab/seqpacket":          {},
	"lab/vm":                 {},
	"lab/world":              {".", "strictyaml"},
	"bench/accuracy":         {".", "lab", "lab/router", "lab/vm", "lab/world", "probe/wire", "probe/trace", "remote"},
	"bench/equal":            {"analysis", "results"},
	"bench/probe":            {},
	"bench/report":           {".", "analysis", "results"},
	"bench/schedule":         {".", "orchestrator/plan"},
	"bench/sweep":            {"results"},
	"e2e":                    {},
}

// clouds are the modules that only their own provider may import: they are
// slow to compile, and the walls between clouds are kept by it.
var clouds = map[string]string{
	"github.com/aws/":              "providers/aws",
	"cloud.google.com/":            "providers/gcp",
	"google.golang.org/api":        "providers/gcp",
	"github.com/googleapis/gax-go": "providers/gcp",
}

type listed struct {
	ImportPath string
	Imports    []string
}

func TestImportArrows(t *testing.T) {
	pkgs := list(t)
	if len(pkgs) < 20 {
		t.Fatalf("go list found %d packages; the test would prove nothing", len(pkgs))
	}
	for _, pkg := range pkgs {
		room, ok := roomOf(rel(pkg.ImportPath))
		if !ok {
			t.Errorf("%s has no line in the table of arrows", pkg.ImportPath)
			continue
		}
		for _, imp := range pkg.Imports {
			if inProject(imp) && !may(room, rel(imp)) {
				t.Errorf("%s must not import %s", rel(pkg.ImportPath), rel(imp))
			}
			for prefix, owner := range clouds {
				if strings.HasPrefix(imp, prefix) && room != owner {
					t.Errorf("%s imports %s; only %s may", rel(pkg.ImportPath), imp, owner)
				}
			}
		}
	}
}

// TestProbeIsSmall keeps heavy parts out of what is pushed to every machine.
func TestProbeIsSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/antipode-probe").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		if dep == "net/http" || strings.Contains(dep, "yaml") || strings.Contains(dep, "x/crypto/ssh") {
			t.Errorf("the probe pulls in %s", dep)
		}
	}
}

// TestRoomsExist keeps the table from outliving the folders it names.
func TestRoomsExist(t *testing.T) {
	for room := range arrows {
		files, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("the table of arrows names %s, which holds no Go file", room)
		}
	}
}

func list(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Env = append(os.Environ(), "GOOS=linux")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg listed
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, pkg)
	}
}

func inProject(path string) bool {
	return path == module || strings.HasPrefix(path, module+"/")
}

func rel(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// roomOf finds the nearest room that holds pkg.
func roomOf(pkg string) (room string, ok bool) {
	for room = pkg; ; room = filepath.Dir(room) {
		if _, ok := arrows[room]; ok && (room != "." || pkg == ".") {
			return room, true
		}
		if room == "." {
			return "", false
		}
	}
}

func may(room, pkg string) bool {
	target, _ := roomOf(pkg)
	return target == room || slices.Contains(arrows[room], target) || slices.Contains(arrows[room], "*")
}
