package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode"
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
		Example: `  antipode regions --clouds aws,gcp --continents europe
  antipode regions --from aws:us-east-1 --max-km 3000`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return listRegions(cmd.OutOrStdout(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.file, "regions-file", "", "read the regions from this YAML `FILE` instead of the built-in ones")
	flags.StringSliceVar(&f.clouds, "clouds", nil, "only these `CLOUDS` (aws, gcp, azure)")
	flags.StringSliceVar(&f.continents, "continents", nil, "only these `CONTINENTS` ("+strings.Join(antipode.Continents(), ", ")+")")
	flags.StringVar(&f.match, "match", "", "only regions whose name, place or country contains `TEXT`")
	flags.StringVar(&f.from, "from", "", "add distance and light floor from this `REGION` (cloud:region), nearest first")
	flags.Float64Var(&f.maxKm, "max-km", 0, "only regions at most `KM` kilometres from --from")
	flags.BoolVar(&f.csv, "csv", false, "print CSV")
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

func printRegions(w io.Writer, rows []listedRegion, distances bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := "REGION\tPLACE\tCOUNTRY\tCONTINENT\tLATITUDE\tLONGITUDE"
	if distances {
		head += "\tKM\tRTT IN VACUUM\tRTT IN FIBRE"
	}
	fmt.Fprintln(t, head+"\tREMARK")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.4f\t%.4f", r.ID(), r.Place, r.Country, r.Continent(), r.Latitude, r.Longitude)
		if distances {
			fmt.Fprintf(t, "\t%.0f\t%.1f ms\t%.1f ms", r.distanceKm, antipode.VacuumRTTMs(r.distanceKm), antipode.FibreRTTMs(r.distanceKm))
		}
		fmt.Fprintf(t, "\t%s\n", remark(r.Region))
	}
	return t.Flush()
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
