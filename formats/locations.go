package formats

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/antipode-bench/antipode"
)

// ReadLocations reads coordinates of regions: a CSV with the columns cloud,
// region, latitude and longitude among others (as intercloud-throughput has it,
// and `antipode regions --csv`), or a YAML file like regions.yaml. Anything wrong
// is an error with its line.
func ReadLocations(path string) ([]antipode.Region, error) {
	if strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml") {
		return antipode.LoadRegions(path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read locations: %w", err)
	}
	return parseLocations(path, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
}

func parseLocations(name string, data []byte) ([]antipode.Region, error) {
	lines := csv.NewReader(bytes.NewReader(data))
	head, err := lines.Read()
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c := cells{at: map[string]int{}}
	for i, column := range head {
		c.at[column] = i
	}
	for _, column := range []string{"cloud", "region", "latitude", "longitude"} {
		if !slices.Contains(head, column) {
			return nil, fmt.Errorf("%s:1: no column %s; expected a CSV with cloud, region, latitude and longitude, or YAML as regions.yaml", name, column)
		}
	}
	var regions []antipode.Region
	seen := map[string]bool{}
	for {
		c.values, err = lines.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r, err := location(c)
		line, _ := lines.FieldPos(0)
		if err == nil && seen[r.ID()] {
			err = fmt.Errorf("%s is there twice", r.ID())
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		seen[r.ID()] = true
		regions = append(regions, r)
	}
	if len(regions) == 0 {
		return nil, fmt.Errorf("%s: no region", name)
	}
	return regions, nil
}

func location(c cells) (r antipode.Region, err error) {
	if r.Cloud, err = c.name("cloud"); err != nil {
		return r, err
	}
	if r.Name, err = c.name("region"); err != nil {
		return r, err
	}
	r.Cloud, r.Name, r.Place = strings.ToLower(r.Cloud), strings.ToLower(r.Name), c.text("place")
	if r.Latitude, err = degrees(c, "latitude", 90); err != nil {
		return r, err
	}
	r.Longitude, err = degrees(c, "longitude", 180)
	return r, err
}

func degrees(c cells, column string, most float64) (float64, error) {
	v, err := strconv.ParseFloat(c.text(column), 64)
	if err != nil || !(v >= -most && v <= most) {
		return 0, fmt.Errorf("column %s: %q is not between %v and %v degrees", column, clipped(c.text(column)), -most, most)
	}
	return v, nil
}
