package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// TestRulesAreNeeded takes each firewall rule out of the providers' code,
// builds the command, and sweeps: a lab that enforced no rules would not
// notice. `from` must occur in the file, so that the test can't outlive the code.
func TestRulesAreNeeded(t *testing.T) {
	t.Parallel()
	for name, mutant := range map[string]struct{ file, from, to, says string }{
		"EC2 SSH": {"providers/aws/launch.go",
			`if err := r.authorize(ctx, id, from); err != nil || made {
		return id, err
	}
	return id, r.revokeAllBut(ctx, id, from)`, `_, _ = from, made; return id, nil`, "SSH"},
		"EC2 peers": {"providers/aws/admit.go",
			`return r.fill(ctx, run, boxes, port)`, `_ = boxes; return nil`, "connect"},
		"GCE SSH": {"providers/gcp/network.go",
			`made, err := p.insertRule(ctx, n, spec.Run, name, providers.Name(spec.Run.ID), from, allow("tcp", sshPort))
	if err != nil || made {
		return err
	}
	return p.moveRule(ctx, n.project, name, from)`, `_, _ = name, from; return nil`, "SSH"},
		"GCE peers": {"providers/gcp/admit.go",
			`range chunks(missing(rules, port, peers))`, `range chunks(missing(rules, port, nil))`, "connect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			binary := mutate(t, mutant.file, mutant.from, mutant.to)
			var u user
			// A slow computer's machines are not reached in time, with the rule or without.
			again(t, func(try int) (wrong string) {
				u = self(t)
				u.binary = binary
				o := u.run(t, 2*time.Minute, "sweep", "--lab", "--pairs", "aws:us-east-1>gcp:us-east4,gcp:us-east4>aws:us-east-1",
					"--duration", "300ms", "--rtt-probes", "5", "--boot-timeout", fmt.Sprint(8<<(2*try), "s"))
				if lacks := o.lacks(3, "nothing is left", mutant.says); len(lacks) > 0 {
					return fmt.Sprintf("%q\n%s\n%s", lacks, o.stdout, o.stderr)
				}
				return ""
			})
			for _, r := range readRows(t, u.runFolder(t)) {
				inbound := strings.HasPrefix(name, "EC2") == (r.ToCloud == "aws")
				if inbound && r.Status == results.StatusOK {
					t.Errorf("%s > %s is %s without the rule", r.FromCloud, r.ToCloud, r.Status)
				}
			}
		})
	}
}

// mutate builds the command with one file changed, which stays as it is on disk.
func mutate(t *testing.T, file, from, to string) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	code, err := mutant{file: file, from: from, to: to}.apply()
	if err != nil {
		t.Fatal(err)
	}
	path, dir := filepath.Join(root, file), t.TempDir()
	changed := filepath.Join(dir, "changed.go")
	write(t, changed, code)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	mutant := filepath.Join(dir, "antipode")
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-ldflags", "-s -w", "-o", mutant, "./cmd/antipode")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build without the rule: %v\n%s", err, out)
	}
	return mutant
}

// apply returns the changed file. What is changed must be there, so that a test
// can't outlive the code.
func (m mutant) apply() (string, error) {
	code, err := os.ReadFile(filepath.Join("..", m.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(code), m.from); n != 1 {
		return "", fmt.Errorf("%s has %q %d times, want it once", m.file, m.from, n)
	}
	return strings.Replace(string(code), m.from, m.to, 1), nil
}
