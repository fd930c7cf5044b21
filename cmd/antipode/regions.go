package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/units"
)

type regionsFlags struct {
	file       string
	clouds     []string
	continents []string
	match      string
	from       string
	maxKm      float64
	csv        bool
}

func newRegions() *cobra.Command {
	var f regionsFlags
	cmd := &cobra.Command{
		Use:   "regions",
		Short: "List regions, with distances from a given one",
		Long: `Regions lists the regions of AWS, Google Cloud and Azure with the coordinates that
distances are taken from; sweeps measure AWS and Google Cloud. With --from it adds the
great-circle distance, and the round-trip times that light would need over it: no
measurement can be below the one in vacuum, and hardly any is below the one in fibre.
The coordinates are those of the region's city where the site is not public; the CSV's
column "confidence" says how sure they are.`,
		Example: `  antipode regions --clouds aws,gcp --continents europe
  antipode regions --from aws:us-east-1 --max-km 3000`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return listRegions(cmd.OutOrStdout(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.file, "regions-file", "", regionsFileUsage)
	flags.StringSliceVar(&f.clouds, "clouds", nil, "only these `CLOUDS` (aws, gcp, azure)")
	flags.StringSliceVar(&f.continents, "continents", nil, "only these `CONTINENTS` ("+strings.Join(antipode.Continents(), ", ")+")")
	flags.StringVar(&f.match, "match", "", "only regions whose name, place or country contains `TEXT`")
	flags.StringVar(&f.from, "from", "", "add distance and light floor from this `REGION` (cloud:region), nearest first")
	flags.Float64Var(&f.maxKm, "max-km", 0, "only regions at most `KM` kilometres from --from (0: no limit)")
	flags.BoolVar(&f.csv, "csv", false, "print CSV, with every column")
	return cmd
}

// listed is a region and how far it is from the given one.
type listedRegion struct {
	antipode.Region
	distanceKm float64
}

func listRegions(w io.Writer, f regionsFlags) error {
	all, err := regionsFrom(f.file)
	if err != nil {
		return err
	}
	origin, err := f.check(all)
	if err != nil {
		return err
	}
	var rows []listedRegion
	for _, r := range all {
		row := listedRegion{Region: r}
		if f.from != "" {
			row.distanceKm = antipode.DistanceKm(origin, r)
		}
		if f.wants(row) {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return usageError("no region is left by these filters")
	}
	if f.from != "" {
		slices.SortStableFunc(rows, func(a, b listedRegion) int {
			return int(a.distanceKm*1000) - int(b.distanceKm*1000)
		})
	}
	if f.csv {
		return printRegionsCSV(w, rows, f.from != "")
	}
	return printRegions(w, rows, f.from != "")
}

// check finds wrong values and returns the region distances are from.
func (f regionsFlags) check(all []antipode.Region) (origin antipode.Region, err error) {
	for _, c := range f.clouds {
		if !slices.ContainsFunc(all, func(r antipode.Region) bool { return r.Cloud == c }) {
			return origin, usageError("--clouds: unknown cloud %q", c)
		}
	}
	for _, c := range f.continents {
		if !slices.Contains(antipode.Continents(), c) {
			return origin, usageError("--continents: unknown continent %q; there are %s", c, strings.Join(antipode.Continents(), ", "))
		}
	}
	if !(f.maxKm >= 0) || math.IsInf(f.maxKm, 0) || f.maxKm > 0 && f.from == "" {
		return origin, usageError("--max-km: needs a distance above 0, and --from")
	}
	if f.from == "" {
		return origin, nil
	}
	origin, ok := antipode.Find(all, f.from)
	if !ok {
		return origin, usageError("--from: unknown region %q; regions are named cloud:region, for example aws:us-east-1", f.from)
	}
	return origin, nil
}

func (f regionsFlags) wants(r listedRegion) bool {
	text := strings.ToLower(r.ID() + " " + r.Place + " " + r.Country)
	return (len(f.clouds) == 0 || slices.Contains(f.clouds, r.Cloud)) &&
		(len(f.continents) == 0 || slices.Contains(f.continents, r.Continent())) &&
		strings.Contains(text, strings.ToLower(f.match)) &&
		(f.maxKm == 0 || r.distanceKm <= f.maxKm)
}

// remark is what a user should know before choosing the region.
func remark(r antipode.Region) string {
	switch {
	case r.Partition != "":
		return "partition " + r.Partition
	case r.OptIn:
		return "opt-in"
	}
	return r.Status
}

// column is one of the table's. Figures stand at its right end.
type column struct {
	head  string
	right bool
	cell  func(listedRegion) string
}

// regionColumns leave room on a line of a terminal for the distances by leaving
// the coordinates out: CSV has all.
func regionColumns(distances bool) []column {
	ms := func(floorMs func(km float64) float64) func(listedRegion) string {
		return func(r listedRegion) string { return decimal(floorMs(r.distanceKm), 1) + " ms" }
	}
	columns := []column{
		{"REGION", false, func(r listedRegion) string { return r.ID() }},
		{"PLACE", false, func(r listedRegion) string { return clip(r.Place, 26) + ", " + r.Country }},
	}
	if distances {
		columns = append(columns,
			column{"KM", true, func(r listedRegion) string { return units.Kilometres(r.distanceKm) }},
			column{"RTT IN VACUUM", true, ms(antipode.VacuumRTTMs)},
			column{"RTT IN FIBRE", true, ms(antipode.FibreRTTMs)})
	} else {
		columns = append(columns,
			column{"CONTINENT", false, func(r listedRegion) string { return r.Continent() }},
			column{"LATITUDE", true, func(r listedRegion) string { return decimal(r.Latitude, 4) }},
			column{"LONGITUDE", true, func(r listedRegion) string { return decimal(r.Longitude, 4) }})
	}
	return append(columns, column{"REMARK", false, func(r listedRegion) string { return remark(r.Region) }})
}

func printRegions(w io.Writer, rows []listedRegion, distances bool) error {
	lines := make([]string, len(rows)+1)
	for _, c := range regionColumns(distances) {
		cells := []string{c.head}
		width := len(c.head)
		for _, r := range rows {
			cells = append(cells, c.cell(r))
			width = max(width, utf8.RuneCountInString(c.cell(r)))
		}
		if !c.right {
			width = -width
		}
		for i, cell := range cells {
			lines[i] += fmt.Sprintf("%*s  ", width, cell)
		}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// clip shortens s to at most n characters, the last one an ellipsis.
func clip(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

func printRegionsCSV(w io.Writer, rows []listedRegion, distances bool) error {
	c := csv.NewWriter(w)
	head := []string{"cloud", "region", "place", "country", "continent", "latitude", "longitude", "confidence", "remark"}
	if distances {
		head = append(head, "distance_km", "vacuum_rtt_ms", "fibre_rtt_ms")
	}
	c.Write(head)
	for _, r := range rows {
		line := []string{r.Cloud, r.Name, r.Place, r.Country, r.Continent(), decimal(r.Latitude, -1), decimal(r.Longitude, -1), r.Confidence, remark(r.Region)}
		if distances {
			line = append(line, decimal(r.distanceKm, 1), decimal(antipode.VacuumRTTMs(r.distanceKm), 3), decimal(antipode.FibreRTTMs(r.distanceKm), 3))
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

func decimal(x float64, digits int) string { return strconv.FormatFloat(x, 'f', digits, 64) }
