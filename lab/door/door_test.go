package door_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	antipode "github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/vm/vmtest"
)

const ireland = "eu-west-1"

func open(t *testing.T, o door.Options) (*door.Doors, *vmtest.Hypervisor) {
	t.Helper()
	machines := vmtest.New()
	o.Machines = machines
	o.Regions = []antipode.Region{{Cloud: "aws", Name: ireland}, {Cloud: "gcp", Name: "us-west1"}, {Cloud: "azure", Name: "westeurope"}}
	doors, err := door.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 { // safe to call twice
			if err := doors.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
		}
		if left := machines.Running(); len(left) > 0 {
			t.Errorf("Close left %v running", left)
		}
	})
	return doors, machines
}

// launch starts one machine behind each door.
func launch(t *testing.T, doors *door.Doors) {
	t.Helper()
	const query = "Action=RunInstances&ImageId=resolve:ssm:/aws/service/debian/release/12/latest/amd64&InstanceType=t3.nano&MinCount=1&MaxCount=1"
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(query))
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=K/20261130/"+ireland+"/ec2/aws4_request, SignedHeaders=host, Signature=0")
	call(t, doors.AWS(), r)
	const body = `{"name":"m","machineType":"zones/us-west1-a/machineTypes/e2-small","networkInterfaces":[{}],
		"disks":[{"boot":true,"initializeParams":{"sourceImage":"projects/debian-cloud/global/images/family/debian-12"}}]}`
	call(t, doors.GCP(), httptest.NewRequest(http.MethodPost, "/compute/v1/projects/antipode-lab/zones/us-west1-a/instances", strings.NewReader(body)))
}

func call(t *testing.T, h http.Handler, r *http.Request) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s %s: %d %v\n%s", r.Method, r.URL, w.Code, err, body)
	}
	return string(body)
}

func TestInventoryAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		doors, machines := open(t, door.Options{})
		if list := doors.Inventory(); len(list) != 0 {
			t.Errorf("a new lab has %+v", list)
		}
		launch(t, doors)
		synctest.Wait()
		if n := len(machines.Running()); n != 2 {
			t.Fatalf("%d machines run, want 2", n)
		}
		var kinds []string
		for _, item := range doors.Inventory() {
			kinds = append(kinds, item.Cloud+" "+item.Kind)
		}
		if got, want := strings.Join(kinds, ", "), "aws disk, aws instance, gcp disk, gcp instance"; got != want {
			t.Errorf("inventory = %s, want %s", got, want)
		}
	})
}

func TestCloseWhileStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		doors, machines := open(t, door.Options{})
		machines.StartDelay = time.Hour
		launch(t, doors)
		synctest.Wait()
		start := time.Now()
		if err := doors.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("Close took %v", d)
		}
	})
}

func TestCheckIP(t *testing.T) {
	doors, _ := open(t, door.Options{ControllerAddr: netip.MustParseAddr("198.18.0.9")})
	if got := call(t, doors.CheckIP(), httptest.NewRequest(http.MethodGet, "/", nil)); got != "198.18.0.9\n" {
		t.Errorf("answer = %q", got)
	}
}

func TestNewRefuses(t *testing.T) {
	machines := vmtest.New()
	for name, c := range map[string]struct {
		options door.Options
		want    string
	}{
		"NoHypervisor": {door.Options{}, "no hypervisor"},
		"Fault":        {door.Options{Machines: machines, Faults: door.Faults{Calls: []fault.Call{{Kind: "slow"}}}}, "unknown kind"},
		"Timing":       {door.Options{Machines: machines, Timing: &door.Timing{Boot: door.Range{Min: 2, Max: 1}}}, "boot time"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := door.New(c.options); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New = %v, want %q", err, c.want)
			}
		})
	}
}
