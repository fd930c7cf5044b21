package prices_test

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/prices"
)

func region(t testing.TB, id string) antipode.Region {
	t.Helper()
	r, ok := antipode.Find(antipode.Regions(), id)
	if !ok {
		t.Fatalf("no region %s", id)
	}
	return r
}

// transfers are what the published sweep moved.
type transfers struct {
	from, to    antipode.Region
	rows, bytes float64
}

func published(t testing.TB) (all []transfers) {
	t.Helper()
	f, err := os.Open("testdata/intercloud_202202.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range records[1:] {
		rows, errRows := strconv.ParseFloat(rec[2], 64)
		bytes, errBytes := strconv.ParseFloat(rec[3], 64)
		if errRows != nil || errBytes != nil {
			t.Fatalf("not numbers: %v", rec)
		}
		all = append(all, transfers{region(t, rec[0]), region(t, rec[1]), rows, bytes})
	}
	return all
}

func cents(usd float64) float64 { return math.Round(usd*100) / 100 }

// TestPublishedSweep prices a sweep of 45 regions that others published.
func TestPublishedSweep(t *testing.T) {
	table := prices.Default()
	var rows, bytes, total, at10MB float64
	got, regions := map[string]float64{}, map[string]bool{}
	for _, p := range published(t) {
		price := table.Egress(p.from, p.to, "")
		if price.Unknown != "" || price.Source.Unverified {
			t.Errorf("%s to %s: %s", p.from.ID(), p.to.ID(), price.Unknown)
		}
		rows += p.rows
		bytes += p.bytes
		total += price.Of(p.bytes)
		at10MB += price.Of(10e6 * p.rows)
		got[p.from.Cloud+">"+p.to.Cloud] += price.Of(p.bytes)
		regions[p.from.ID()], regions[p.to.ID()] = true, true
	}
	if len(regions) != 45 || rows != 2138 || bytes != 645_293_277_184 {
		t.Errorf("%d regions, %v rows, %v bytes; want 45, 2138 and 645,293,277,184", len(regions), rows, bytes)
	}
	for pair, usd := range got {
		got[pair] = cents(usd)
	}
	want := map[string]float64{"aws>aws": 1.94, "aws>gcp": 25.17, "gcp>aws": 9.24, "gcp>gcp": 12.50}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("egress in USD (-want +got):\n%s", diff)
	}
	if cents(total) != 48.85 || cents(at10MB) != 1.87 {
		t.Errorf("%.4f USD, and %.4f at 10 MB a row; want 48.85 and 1.87", total, at10MB)
	}
}

func TestEgress(t *testing.T) {
	const standard = prices.StandardTier
	for name, tt := range map[string]struct {
		from, to, tier string
		usd, per       float64
		unknown        string
	}{
		"AWS by source":             {"aws:af-south-1", "aws:us-east-1", "", .147, prices.GB, ""},
		"AWS the other way":         {"aws:us-east-1", "aws:af-south-1", "", .02, prices.GB, ""},
		"AWS special pair":          {"aws:us-east-1", "aws:us-east-2", "", .01, prices.GB, ""},
		"AWS special pair, back":    {"aws:us-east-2", "aws:us-east-1", "", .01, prices.GB, ""},
		"AWS within":                {"aws:us-east-1", "aws:us-east-1", "", .02, prices.GB, ""},
		"AWS to internet":           {"aws:sa-east-1", "gcp:us-east4", "", .15, prices.GB, ""},
		"AWS to another partition":  {"aws:us-east-1", "aws:us-gov-west-1", "", .09, prices.GB, ""},
		"AWS unknown":               {"aws:ap-east-2", "aws:us-east-1", "", .147, prices.GB, "data from aws:ap-east-2 to other regions"},
		"AWS unknown, to internet":  {"aws:mx-central-1", "gcp:us-east4", "", .154, prices.GB, "data from aws:mx-central-1 to the internet"},
		"GovCloud":                  {"aws:us-gov-west-1", "aws:us-gov-east-1", "", .147, prices.GB, "data from aws:us-gov-west-1 to other regions"},
		"GCP by continents":         {"gcp:us-east4", "gcp:europe-west1", "", .05, prices.GiB, ""},
		"GCP within a continent":    {"gcp:us-east4", "gcp:us-west1", "", .02, prices.GiB, ""},
		"GCP longest prefix":        {"gcp:asia-southeast1", "gcp:asia-southeast2", "", .10, prices.GiB, ""},
		"GCP Bangkok is in Asia":    {"gcp:asia-southeast1", "gcp:asia-southeast3", "", .08, prices.GiB, ""},
		"GCP Queretaro":             {"gcp:northamerica-south1", "gcp:us-east4", "", .14, prices.GiB, ""},
		"GCP within":                {"gcp:us-east4", "gcp:us-east4", "", .01, prices.GiB, ""},
		"GCP to AWS":                {"gcp:us-east4", "aws:us-east-1", "", .12, prices.GiB, ""},
		"GCP to AWS in Australia":   {"gcp:us-east4", "aws:ap-southeast-2", "", .19, prices.GiB, ""},
		"GCP to AWS in China":       {"gcp:us-east4", "aws:cn-north-1", "", .23, prices.GiB, ""},
		"GCP to AWS in Hong Kong":   {"gcp:us-east4", "aws:ap-east-1", "", .12, prices.GiB, ""},
		"standard, to AWS":          {"gcp:us-east4", "aws:ap-southeast-2", standard, .085, prices.GiB, ""},
		"standard, dearer internet": {"gcp:us-east4", "gcp:us-west1", standard, .085, prices.GiB, ""},
		"standard, dearer matrix":   {"gcp:us-east4", "gcp:southamerica-east1", standard, .14, prices.GiB, ""},
		"standard, unknown":         {"gcp:africa-south1", "aws:us-east-1", standard, .12, prices.GiB, "data from gcp:africa-south1 to the internet, standard tier"},
		"another cloud":             {"azure:eastus", "aws:us-east-1", "", .23, prices.GiB, "data from azure:eastus"},
	} {
		t.Run(name, func(t *testing.T) {
			p := prices.Default().Egress(region(t, tt.from), region(t, tt.to), tt.tier)
			if p.USD != tt.usd || p.Per != tt.per || p.Unknown != tt.unknown {
				t.Errorf("%v USD for %v, unknown %q; want %v for %v, %q", p.USD, p.Per, p.Unknown, tt.usd, tt.per, tt.unknown)
			}
		})
	}
}

func TestHourly(t *testing.T) {
	table := prices.Default()
	for name, tt := range map[string]struct {
		got     prices.Price
		usd     float64
		unknown string
	}{
		"AWS":             {table.Machine(region(t, "aws:us-east-1"), "t3.nano"), .0052, ""},
		"GCP":             {table.Machine(region(t, "gcp:us-central1"), "e2-small"), .016753, ""},
		"elsewhere":       {table.Machine(region(t, "aws:sa-east-1"), "t3.nano"), .0104, "a t3.nano in aws:sa-east-1"},
		"unknown type":    {table.Machine(region(t, "aws:us-east-1"), "z9.nano"), 8.16, "a z9.nano"},
		"own":             {table.Machine(antipode.Region{Cloud: prices.Own, Name: "attic"}, ""), 0, ""},
		"address, AWS":    {table.Address(region(t, "aws:sa-east-1")), .005, ""},
		"address, GCP":    {table.Address(region(t, "gcp:us-east4")), .005, ""},
		"address, own":    {table.Address(antipode.Region{Cloud: prices.Own}), 0, ""},
		"address, unseen": {table.Address(region(t, "azure:eastus")), .005, "a public address of azure"},
		"disk":            {table.Disk(region(t, "aws:us-east-1")), 8 * .08 / 720, ""},
		"disk elsewhere":  {table.Disk(region(t, "gcp:us-east4")), 2 * 10 * .08 / 720, "a disk in gcp:us-east4"},
		"disk, own":       {table.Disk(antipode.Region{Cloud: prices.Own}), 0, ""},
		"egress, own":     {table.Egress(antipode.Region{Cloud: prices.Own}, region(t, "aws:us-east-1"), ""), 0, ""},
	} {
		if math.Abs(tt.got.Of(1)-tt.usd) > 1e-12 || tt.got.Unknown != tt.unknown {
			t.Errorf("%s: %v USD an hour, unknown %q; want %v, %q", name, tt.got.Of(1), tt.got.Unknown, tt.usd, tt.unknown)
		}
	}
}

// TestEverythingHasAPrice: none is below what the table knows, each has a
// source, and those without a price say so.
func TestEverythingHasAPrice(t *testing.T) {
	table := prices.Default()
	check := func(p prices.Price, what ...string) {
		t.Helper()
		if !(p.Of(1) > 0) || p.Source.What == "" || p.Source.Date == "" != p.Source.Unverified {
			t.Errorf("%v: %+v", what, p)
		}
	}
	for _, from := range antipode.Regions() {
		check(table.Address(from), from.ID())
		if from.Cloud == "azure" {
			continue
		}
		check(table.Machine(from, "t3.nano"), from.ID())
		check(table.Disk(from), from.ID())
		for _, to := range antipode.Regions() {
			check(table.Egress(from, to, ""), from.ID(), to.ID())
			check(table.Egress(from, to, prices.StandardTier), from.ID(), to.ID())
		}
	}
}

func TestParseOverrides(t *testing.T) {
	table, err := prices.Parse("mine.yaml", []byte(`
sources: [{id: contract, date: 2026-10-01, what: our contract}]
machines:
- {cloud: aws, type: t3.nano, region: eu-west-1, usd_per_hour: 0.004}
- {cloud: aws, type: t3.nano, usd_per_hour: 0.003, source: contract}
gcp_egress: [{from: north-america, to: {europe: 0.01}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	contract := prices.Source{ID: "contract", Date: "2026-10-01", What: "our contract"}
	file := prices.Source{ID: "mine.yaml", What: "mine.yaml"}
	nowhere := table.Machine(region(t, "aws:sa-east-1"), "t3.nano")
	if diff := cmp.Diff(prices.Price{USD: .003, Per: 1, Source: contract}, nowhere); diff != "" {
		t.Errorf("a price for every region (-want +got):\n%s", diff)
	}
	if p := table.Machine(region(t, "aws:us-east-1"), "t3.nano"); p.USD != .003 {
		t.Errorf("the region's own price of the built-in table is still there: %+v", p)
	}
	if p := table.Machine(region(t, "aws:eu-west-1"), "t3.nano"); p.USD != .004 {
		t.Errorf("the region's own price of the same file: %+v", p)
	}
	cell := table.Egress(region(t, "gcp:us-east4"), region(t, "gcp:europe-west1"), "")
	if diff := cmp.Diff(prices.Price{USD: .01, Per: prices.GiB, Source: file}, cell); diff != "" {
		t.Errorf("a cell (-want +got):\n%s", diff)
	}
	if p := table.Egress(region(t, "gcp:us-east4"), region(t, "gcp:us-west1"), ""); p.USD != .02 {
		t.Errorf("another cell of the row: %+v", p)
	}
	if p := prices.Default().Machine(region(t, "aws:us-east-1"), "t3.nano"); p.USD != .0052 {
		t.Errorf("the built-in table changed: %+v", p)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"no YAML":      {"machines: [", "p.yaml:2: "},
		"unknown list": {"machine: []", `p.yaml:1: unknown key "machine", want one of sources, bounds, machines`},
		"no list":      {"machines: 3", "p.yaml:1: machines must be a list of at least one item"},
		"no mapping":   {"machines: [3]", "p.yaml:1: an item of machines must be a mapping of cloud, type, usd_per_hour"},
		"no price":     {"machines: [{cloud: aws, type: t3.nano}]", `p.yaml:1: an item of machines lacks "usd_per_hour"`},
		"unknown key":  {"addresses: [{cloud: aws, usd_per_hour: 1, usd: 2}]", `p.yaml:1: unknown key "usd"`},
		"no number":    {"addresses: [{cloud: aws, usd_per_hour: cheap}]", "p.yaml:1: "},
		"negative":     {"addresses: [{cloud: aws, usd_per_hour: -1}]", "p.yaml:1: a price of -1: want 0 to 1e+06"},
		"NaN":          {"addresses: [{cloud: aws, usd_per_hour: .nan}]", "p.yaml:1: a price of NaN: want 0 to 1e+06"},
		"infinite":     {"addresses: [{cloud: aws, usd_per_hour: .inf}]", "p.yaml:1: a price of +Inf: want 0 to 1e+06"},
		"cloud":        {"addresses: [{cloud: moon, usd_per_hour: 1}]", `p.yaml:1: cloud "moon" is not aws or gcp`},
		"no type":      {"machines: [{cloud: aws, type: '', usd_per_hour: 1}]", "p.yaml:1: a machine's type is empty"},
		"bad type":     {"machines: [{cloud: aws, type: 'A B', usd_per_hour: 1}]", `p.yaml:1: "A B" is no name`},
		"twice": {"addresses:\n- {cloud: aws, usd_per_hour: 1}\n- {cloud: aws, usd_per_hour: 1}",
			"p.yaml:3: address aws is there already, on line 2"},
		"source":        {"addresses: [{cloud: aws, usd_per_hour: 1, source: hearsay}]", `p.yaml:1: source "hearsay" is not in the list of sources`},
		"source's date": {"sources: [{id: x, what: y}]", "p.yaml:1: source x: want the date it was published, or unverified: true"},
		"no date":       {"sources: [{id: x, what: y, date: May}]", `p.yaml:1: source x: date "May" is not of the form 2026-11-30`},
		"no what":       {"sources: [{id: x, what: '', date: 2026-01-01}]", "p.yaml:1: a source needs an id and what it is"},
		"below one":     {"bounds: [{elsewhere: 0.5}]", "p.yaml:1: elsewhere 0.5: want 1 to 100"},
		"destination":   {"gcp_premium: [{to: moon, usd: 1}]", `p.yaml:1: destination "moon" is not world, australia or china`},
		"place":         {"gcp_egress: [{from: europe, to: {moon: 1}}]", `p.yaml:1: place "moon" is not in gcp_places`},
		"standard":      {"gcp_standard: [{from: moon, usd: 1}]", `p.yaml:1: place "moon" is not in gcp_places`},
		"AWS region":    {"aws_egress: [{region: '', to_aws: 1, to_internet: 1}]", `p.yaml:1: "" is no name`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := prices.Parse("p.yaml", []byte(tt.text))
			if err == nil {
				t.Fatal("was taken")
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %q, want %q", err, tt.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	if _, err := prices.Load(t.TempDir() + "/none.yaml"); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("machines: [{cloud: aws, type: t3.nano, usd_per_hour: 0.003}]")
	f.Add("gcp_egress: [{from: north-america, to: {europe: 0.01}}]")
	f.Add("sources: [{id: x, date: 2026-01-01, what: y}]\nbounds: [{elsewhere: 3, source: x}]")
	us := antipode.Region{Cloud: "aws", Name: "us-east-1", Country: "US"}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := prices.Parse("p.yaml", []byte(text))
		if err != nil {
			return
		}
		for _, p := range []prices.Price{table.Machine(us, "t3.nano"), table.Disk(us), table.Address(us), table.Egress(us, us, "")} {
			if !(p.Of(1) >= 0) || math.IsInf(p.Of(1), 0) {
				t.Errorf("%+v", p)
			}
		}
	})
}

func BenchmarkEgress(b *testing.B) {
	table, regions := prices.Default(), antipode.Regions()
	for b.Loop() {
		for _, from := range regions[:77] {
			for _, to := range regions[:77] {
				table.Egress(from, to, "")
			}
		}
	}
}
