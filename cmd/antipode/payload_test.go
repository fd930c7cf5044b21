package main

import (
	"bytes"
	"debug/elf"
	"os"
	"testing"
)

// maxProbe is the most that a probe may weigh: it is pushed to every machine.
const maxProbe = 6 << 20 // bytes

// TestProbesAreSmallAndStatic: they run on any Linux of their architecture.
func TestProbesAreSmallAndStatic(t *testing.T) {
	for name, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		_, plain, err := carried("antipode-probe-linux-" + name)
		if err != nil && os.Getenv("CI") != "true" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		file, err := elf.NewFile(bytes.NewReader(plain))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(plain) > maxProbe || file.Machine != machine {
			t.Errorf("%s: %d bytes for %v; want at most %d", name, len(plain), file.Machine, maxProbe)
		}
		for _, p := range file.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Errorf("%s: linked dynamically (%v)", name, p.Type)
			}
		}
		t.Logf("%s: %d bytes", name, len(plain))
	}
}
