package formats_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/formats"
	"github.com/antipode-bench/antipode/results"
)

// kept is a sink that keeps everything.
type kept struct {
	rows    []results.Row
	bad     []results.BadRow
	places  []antipode.Region
	series  map[int]results.Series
	sources []results.Source
}

func (k *kept) Add(r results.Row)          { k.rows = append(k.rows, r) }
func (k *kept) AddBad(b results.BadRow)    { k.bad = append(k.bad, b) }
func (k *kept) Locate(r []antipode.Region) { k.places = append(k.places, r...) }
func (k *kept) End(s results.Source)       { k.sources = append(k.sources, s) }
func (k *kept) AddSeries(row int, s results.Series) {
	if k.series == nil {
		k.series = map[int]results.Series{}
	}
	k.series[row] = s
}

func readFile(t *testing.T, path string) *kept {
	t.Helper()
	k := &kept{}
	if err := formats.Read(path, k); err != nil {
		t.Fatal(err)
	}
	return k
}

// TestPublishedFiles: every row of others' files is accounted for, with the
// units that it really has.
func TestPublishedFiles(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		rows   int
		within int
		clouds []string
		first  results.Row
	}{
		"intercloud/results_202202.csv": {"intercloud", 2138, 0, []string{"aws", "gcp"}, results.Row{
			RunID: "emosav", Timestamp: "2022-02-14T08:59:09Z", Status: "ok", FromCloud: "gcp", FromRegion: "southamerica-east1", FromMachine: "e2-small",
			ToCloud: "aws", ToRegion: "eu-west-2", ToMachine: "t3.nano", RTTMeanMs: new(191.605), GoodputBps: new(44171264.0 * 8 / 10),
			Bytes: new(int64(44171264)), DurationS: new(10.0), Streams: new(int64(1)),
		}},
		"skyplane/throughput_2022-01-24.csv.gz": {"skyplane-throughput", 4032, 0, []string{"aws", "azure", "gcp"}, results.Row{
			Status: "ok", FromCloud: "aws", FromRegion: "ca-central-1", FromMachine: "m5.8xlarge", ToCloud: "gcp", ToRegion: "us-east4", ToZone: "us-east4-a",
			ToMachine: "n2-standard-32", NetworkTier: "premium", GoodputBps: new(4731003970.086456), DurationS: new(5.0), Streams: new(int64(64)),
		}},
		"skyplane/latency_v2.csv.gz": {"skyplane-latency", 8010, 42, []string{"aws", "azure", "gcp"}, results.Row{
			Status: "ok", FromCloud: "aws", FromRegion: "eu-north-1", FromMachine: "m5.large", ToCloud: "azure", ToRegion: "eastus", ToMachine: "Standard_D2_v3",
			RTTMinMs: new(105.897), RTTMeanMs: new(105.976), RTTStddevMs: new(0.297),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			k := readFile(t, filepath.Join("testdata", name))
			s := k.sources[0]
			if s.Kind != c.kind || s.Rows != c.rows || s.Bad != 0 || len(k.rows) != c.rows || len(k.bad) != 0 {
				t.Errorf("source %+v, %d rows, %d bad; want %d rows of kind %s", s, len(k.rows), len(k.bad), c.rows, c.kind)
			}
			if diff := cmp.Diff(c.first, k.rows[0]); diff != "" {
				t.Errorf("first row (-want +got):\n%s", diff)
			}
			within, clouds := 0, map[string]bool{}
			for _, r := range k.rows {
				if r.FromCloud == r.ToCloud && r.FromRegion == r.ToRegion {
					within++
				}
				clouds[r.FromCloud], clouds[r.ToCloud] = true, true
				for _, id := range []string{r.FromCloud + ":" + r.FromRegion, r.ToCloud + ":" + r.ToRegion} {
					if _, known := antipode.Find(antipode.Regions(), id); !known {
						t.Fatalf("%s has no coordinates", id)
					}
				}
			}
			if within != c.within || len(clouds) != len(c.clouds) {
				t.Errorf("%d rows within a region, clouds %v; want %d, %v", within, clouds, c.within, c.clouds)
			}
		})
	}
}

func TestPing(t *testing.T) {
	k := readFile(t, "testdata/tools/ping-linux.txt")
	want := []results.Row{
		{Status: "ok", FromCloud: "hosts", FromRegion: "here", ToCloud: "hosts", ToRegion: "10.20.0.5", RTTMinMs: new(23.1), RTTMeanMs: new(25.6), RTTP50Ms: new(23.4),
			RTTStddevMs: new(3.3256578296631805), RTTLossRatio: new(0.25), RTTProbes: new(int64(4)), RTTDuplicates: new(int64(1))},
		{Status: "failed", Error: "no answer to 5 packets", FromCloud: "hosts", FromRegion: "here", ToCloud: "hosts", ToRegion: "silent.example"},
	}
	if diff := cmp.Diff(want, k.rows, cmp.Comparer(near)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantBad := []results.BadRow{{File: "testdata/tools/ping-linux.txt", Line: 15, Reason: "ping of cut.example: neither answers nor a summary follow"}}
	if diff := cmp.Diff(wantBad, k.bad); diff != "" {
		t.Errorf("bad rows (-want +got):\n%s", diff)
	}
	k = readFile(t, "testdata/tools/ping-quiet-macos.txt")
	want = []results.Row{{Status: "ok", FromCloud: "hosts", FromRegion: "here", ToCloud: "hosts", ToRegion: "192.0.2.7", RTTMinMs: new(11.017), RTTMeanMs: new(12.4),
		RTTStddevMs: new(0.7), RTTLossRatio: new(0.0), RTTProbes: new(int64(10))}}
	if diff := cmp.Diff(want, k.rows); diff != "" {
		t.Errorf("quiet (-want +got):\n%s", diff)
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

func TestIperf3(t *testing.T) {
	k := readFile(t, "testdata/tools/iperf3-tcp.json")
	want := []results.Row{
		{Status: "ok", Timestamp: "2026-11-30T12:00:00Z", FromCloud: "hosts", FromRegion: "10.20.0.4", ToCloud: "hosts", ToRegion: "10.20.0.5", GoodputBps: new(937188434.7),
			GoodputMeanBps: new(937188434.7), Bytes: new(int64(1175000000)), DurationS: new(10.03), Streams: new(int64(2)), CongestionControl: "cubic", MSSBytes: new(int64(1448))},
		{Status: "ok", FromCloud: "hosts", FromRegion: "ip6-2001-db8--2", ToCloud: "hosts", ToRegion: "ip6-2001-db8--1", UDPTargetBps: new(5e7), UDPGoodputBps: new(4276.8 * 8 * 1448),
			UDPPacketsPerS: new(4276.8), UDPDatagramBytes: new(int64(1448)), UDPLossRatio: new(0.01), UDPJitterMs: new(0.02)},
		{Status: "failed", Error: "error - unable to connect to server: Connection refused", FromCloud: "hosts", FromRegion: "here", ToCloud: "hosts", ToRegion: "10.20.0.6"},
	}
	if diff := cmp.Diff(want, k.rows, cmp.Comparer(func(a, b float64) bool { return a-b < 1 && b-a < 1 })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(k.bad) > 0 {
		t.Errorf("bad rows %v", k.bad)
	}
}

const (
	intercloudHead = "timestamp,run_id,from_cloud,from_region,to_cloud,to_region,bitrate_Bps,avgrtt,gcp_vm,aws_vm\n"
	throughputHead = "src_region,src_tier,src_instance_class,dst_region,dst_tier,dst_instance_class,iperf3_connections,iperf3_runtime,throughput_sent,throughput_recieved,success\n"
	latencyHead    = "src_region,src_tier,src_instance_class,dst_region,dst_tier,dst_instance_class,min_rtt,avg_rtt,max_rtt,mdev_rtt\n"
)

// TestBadRows: a bad line is kept apart with its number and the reason, and the
// good one after it is read.
func TestBadRows(t *testing.T) {
	for name, c := range map[string]struct {
		text, reason string
		line         int
		good         int
	}{
		"no number":  {intercloudHead + "2022-02-14T08:59:09Z,x,GCP,a,AWS,b,fast,1,,\n2022-02-14T08:59:09Z,x,GCP,a,AWS,b,10,1,,\n", `column bitrate_Bps: "fast" is not a number`, 2, 1},
		"empty":      {intercloudHead + "2022-02-14T08:59:09Z,x,GCP,a,AWS,b,,1,,\n", "column bitrate_Bps: empty", 2, 0},
		"NaN":        {intercloudHead + "2022-02-14T08:59:09Z,x,GCP,a,AWS,b,1,NaN,,\n", `column avgrtt: "NaN" is not a number`, 2, 0},
		"below zero": {intercloudHead + "2022-02-14T08:59:09Z,x,GCP,a,AWS,b,1,-1,,\n", "column avgrtt: -1 is below zero", 2, 0},
		"no time":    {intercloudHead + "yesterday,x,GCP,a,AWS,b,1,1,,\n", `column timestamp: "yesterday" is not a time such as 2022-02-14T08:59:09Z`, 2, 0},
		"no region":  {intercloudHead + "2022-02-14T08:59:09Z,x,GCP,a b,AWS,b,1,1,,\n", `column from_region: bad value "a b"`, 2, 0},
		"short":      {intercloudHead + "2022-02-14T08:59:09Z,x\n2022-02-14T08:59:09Z,x,GCP,a,AWS,b,10,1,,\n", "wrong number of fields", 2, 1},
		"success":    {throughputHead + "aws:a,,,gcp:b,,,1,5,1,1,perhaps\n", `column success: "perhaps" is not True or False`, 2, 0},
		"no cloud":   {throughputHead + "a,,,gcp:b,,,1,5,1,1,True\n", `column src_region: "a" is not cloud:region`, 2, 0},
		"no mean":    {latencyHead + "aws:a,,,gcp:b,,,3,2,4,1\n", "column min_rtt: 3 is above the mean, 2", 2, 0},
		"cut JSON":   {"{\n\"start\": {\"connected\": [\n", "the object that begins here has no end", 1, 0},
		"no JSON":    {"{\n\"start\": {\"connected\": ]\n", "not JSON: invalid character ']' looking for beginning of value", 2, 0},
		"JSON type":  {"{\n\"start\": {\"connected\": 1}}\n", "start.connected is a number", 1, 0},
		"nothing":    {"{\"start\": {\"connected\": []}, \"end\": {}}\n", "end.sum_received is missing: how much arrived is not known", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kept{}
			source, err := formats.ReadFrom("f", strings.NewReader(c.text), k)
			if err != nil {
				t.Fatal(err)
			}
			want := []results.BadRow{{File: "f", Line: c.line, Reason: c.reason}}
			if diff := cmp.Diff(want, k.bad); diff != "" || len(k.rows) != c.good || source.Bad != 1 || source.Rows != c.good {
				t.Errorf("%d rows, source %+v; bad (-want +got):\n%s", len(k.rows), source, diff)
			}
		})
	}
}

func TestUnknownFiles(t *testing.T) {
	const expected = "; expected results.csv of antipode, results of intercloud-throughput, a throughput or latency grid of skyplane, the output of iperf3 -J or that of ping"
	for name, c := range map[string]struct{ text, want string }{
		"empty":       {"", "f: the file is empty" + expected},
		"blank":       {" \n\n", "f: the file is empty" + expected},
		"other CSV":   {"a,b\n1,2\n", `f: unknown kind of file, which begins with "a,b"` + expected},
		"binary":      {"\x00\x01\xff", `f: unknown kind of file, which begins with "???"` + expected},
		"other JSON":  {`{"a": 1}`, `f: unknown kind of file, which begins with "{\"a\": 1}"` + expected},
		"our columns": {"run_id,timestamp,status,flags\n", `f:1: column 4 is "flags", want "error"`},
		"broken gzip": {"\x1f\x8bnot", "f: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kept{}
			_, err := formats.ReadFrom("f", strings.NewReader(c.text), k)
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if len(k.rows)+len(k.bad) > 0 {
				t.Errorf("rows %v, bad %v", k.rows, k.bad)
			}
		})
	}
}

func TestReadNamesWhatIsMissing(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/nowhere.csv": "read testdata/nowhere.csv: there is no such file or folder",
		"testdata/tools":       "testdata/tools: no run's folder, which has results.csv, nor a folder of such",
	} {
		if err := formats.Read(path, &kept{}); err == nil || err.Error() != want {
			t.Errorf("Read(%s) = %v, want %s", path, err, want)
		}
	}
}

func TestLocations(t *testing.T) {
	regions, err := formats.ReadLocations("testdata/intercloud/locations.csv")
	if err != nil || len(regions) != 53 {
		t.Fatalf("%d regions, %v; want 53", len(regions), err)
	}
	if want := (antipode.Region{Cloud: "aws", Name: "af-south-1", Latitude: -33.92, Longitude: 18.42}); regions[0] != want {
		t.Errorf("first %+v, want %+v", regions[0], want)
	}
	for name, c := range map[string]struct{ text, want string }{
		"columns":  {"cloud,region,latitude\n", "l.csv:1: no column longitude"},
		"degrees":  {"cloud,region,latitude,longitude\naws,a,91,0\n", `l.csv:2: column latitude: "91" is not between -90 and 90 degrees`},
		"empty":    {"cloud,region,latitude,longitude\naws,a,,0\n", `l.csv:2: column latitude: "" is not`},
		"twice":    {"cloud,region,latitude,longitude\naws,a,1,0\nAWS,a,1,0\n", "l.csv:3: aws:a is there twice"},
		"nobody":   {"cloud,region,latitude,longitude\n", "l.csv: no region"},
		"name":     {"cloud,region,latitude,longitude\naws,,1,0\n", `l.csv:2: column region: bad value ""`},
		"no lines": {"", "l.csv:1: no column cloud"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "l.csv")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := formats.ReadLocations(path)
			if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(dir, c.want)) && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// FuzzReadFrom: whatever is in a file, it is rows, bad rows or an error, and the
// source counts what the sink got.
func FuzzReadFrom(f *testing.F) {
	for _, path := range []string{"testdata/tools/ping-linux.txt", "testdata/tools/ping-quiet-macos.txt", "testdata/tools/iperf3-tcp.json"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(intercloudHead + "2022-02-14T08:59:09Z,x,GCP,a,AWS,b,10,1,,\n"))
	f.Add([]byte(throughputHead + "aws:a,,,gcp:us-east4-a,,,1,5,1,1,True\n"))
	f.Add([]byte(latencyHead + "aws:a,,,gcp:b,,,1,2,4,1\n"))
	f.Add([]byte(strings.Join(results.Columns(), ",") + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		k := &kept{}
		source, err := formats.ReadFrom("fuzz", bytes.NewReader(data), k)
		if err == nil && (source.Rows != len(k.rows) || source.Bad != len(k.bad) || source.Kind == "") {
			t.Errorf("source %+v, %d rows, %d bad", source, len(k.rows), len(k.bad))
		}
		for _, r := range k.rows {
			if !results.IsName(r.FromRegion) || !results.IsName(r.ToRegion) || !results.IsName(r.FromCloud) {
				t.Errorf("row %+v", r)
			}
		}
	})
}
