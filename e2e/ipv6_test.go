package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// sixWorld has a region with IPv6 and one without in each cloud, and a narrow
// way whose MTU only ICMPv6 tells.
const sixWorld = `
controller: {delay_ms: 0.5}
regions:
- {id: "aws:eu-west-1", latitude: 53.3, longitude: -6.3, egress_bps: 50000000, ingress_bps: 50000000, ipv6: true}
- {id: "gcp:us-west1", latitude: 45.6, longitude: -121.2, egress_bps: 50000000, ingress_bps: 50000000, ipv6: true}
- {id: "aws:us-east-2", latitude: 40.0, longitude: -83.0, egress_bps: 50000000, ingress_bps: 50000000}
- {id: "gcp:europe-west1", latitude: 50.5, longitude: 3.8, egress_bps: 50000000, ingress_bps: 50000000}
pairs:
- {from: "aws:eu-west-1", to: "gcp:us-west1", delay_ms: 50, mtu_bytes: 1400, mtu_icmp: true}
- {from: "gcp:us-west1", to: "aws:eu-west-1", delay_ms: 50}
`

// TestIPv6: a sweep over IPv6 measures what has it, and says of the rest why it
// is skipped.
func TestIPv6(t *testing.T) {
	t.Parallel()
	u := self(t)
	file := filepath.Join(u.dir, "world.yaml")
	write(t, file, sixWorld)
	o := u.run(t, 2*time.Minute, "sweep", "--lab", "--lab-world", file, "--ip", "6",
		"--regions", "aws:eu-west-1,gcp:us-west1,aws:us-east-2,gcp:europe-west1", "--duration", "1s", "--rtt-probes", "10")
	o.want(t, 0, "12 pairs: 2 ok, 0 failed, 10 skipped", "nothing is left")
	mtus := map[string]int64{"eu-west-1": 1400, "us-west1": 1500} // by the sender
	for _, r := range readRows(t, u.runFolder(t)) {
		mtu, measured := mtus[r.FromRegion]
		if _, both := mtus[r.ToRegion]; !measured || !both {
			if r.Status != results.StatusSkipped || r.IPVersion != "6" || !strings.Contains(r.Error, "IPv6") {
				t.Errorf("%s>%s is %s: %s", r.FromRegion, r.ToRegion, r.Status, r.Error)
			}
			continue
		}
		checkIPv6(t, r)
		if r.RTTP50Ms == nil || *r.RTTP50Ms < 99.5 || r.PathMTUBytes == nil || *r.PathMTUBytes != mtu || r.GoodputBps == nil || *r.GoodputBps > 50e6 {
			t.Errorf("row %s, want an MTU of %d", asJSON(r), mtu)
		}
	}
	t.Logf("four regions in %v", o.took.Round(100*time.Millisecond))
}
