package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/nearest"
)

// selectRegions grants the wishes for regions, and --cloud-pairs as far as it
// says which clouds.
func selectRegions(all []antipode.Region, w Wishes) ([]antipode.Region, error) {
	regions, err := cloudRegions(all, w)
	if err != nil {
		return nil, err
	}
	if regions, err = onContinents(all, regions, w); err != nil {
		return nil, err
	}
	return without(all, regions, w)
}

// cloudRegions grants --clouds and --regions.
func cloudRegions(all []antipode.Region, w Wishes) ([]antipode.Region, error) {
	clouds, err := selectClouds(all, w)
	if err != nil {
		return nil, err
	}
	if len(w.Regions) > 0 {
		return namedRegions(all, w, clouds)
	}
	regions := slices.DeleteFunc(slices.Clone(all), func(r antipode.Region) bool {
		return r.Partition != "" || !slices.Contains(clouds, r.Cloud)
	})
	if len(regions) < 2 {
		return nil, &WishError{"--clouds", strings.Join(clouds, ","), "leaves no two regions"}
	}
	return regions, nil
}

// selectClouds are the clouds whose regions may take part.
func selectClouds(all []antipode.Region, w Wishes) ([]string, error) {
	clouds := measurable(all)
	if len(w.Clouds) > 0 {
		clouds = nil
	}
	for _, name := range w.Clouds {
		cloud := strings.ToLower(strings.TrimSpace(name))
		if err := checkCloud(all, "--clouds", name, cloud); err != nil {
			return nil, err
		}
		clouds = append(clouds, cloud)
	}
	for _, pair := range w.CloudPairs {
		for _, cloud := range []string{pair.From, pair.To} {
			if err := checkCloud(all, "--cloud-pairs", pair.String(), cloud); err != nil {
				return nil, err
			}
			if !slices.Contains(clouds, cloud) {
				return nil, &WishError{"--cloud-pairs", pair.String(), "excluded by --clouds " + strings.Join(clouds, ",")}
			}
		}
	}
	return clouds, nil
}

// checkCloud blames flag and value, as given, unless cloud is measurable.
func checkCloud(all []antipode.Region, flag, value, cloud string) error {
	choice := measurable(all)
	if slices.Contains(choice, cloud) {
		return nil
	}
	return &WishError{flag, value, "no machine can be launched in cloud " + strconv.Quote(cloud) + "; choose from " + strings.Join(choice, ", ")}
}

// namedRegions resolves --regions. A named region that another flag excludes
// is a contradiction, not something to leave out in silence.
func namedRegions(all []antipode.Region, w Wishes, clouds []string) ([]antipode.Region, error) {
	named := map[antipode.Region]bool{}
	for _, name := range w.Regions {
		if isPattern(name) {
			found, err := matching(all, "--regions", name, clouds)
			if err != nil {
				return nil, err
			}
			for _, r := range found {
				named[r] = true
			}
			continue
		}
		r, err := resolve(all, "--regions", name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(clouds, r.Cloud) {
			return nil, &WishError{"--regions", name, "excluded by --clouds " + strings.Join(clouds, ",")}
		}
		named[r] = true
	}
	if len(named) < 2 {
		return nil, &WishError{"--regions", strings.Join(w.Regions, ","), "a pair needs two regions"}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r antipode.Region) bool { return !named[r] }), nil
}

// resolve finds the region that name, an id or a bare name, stands for.
func resolve(all []antipode.Region, flag, name string) (antipode.Region, error) {
	want := strings.ToLower(strings.TrimSpace(name))
	var found []antipode.Region
	for _, r := range all {
		if want == r.ID() || want == r.Name {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 0:
		return antipode.Region{}, &WishError{flag, name, "unknown region; the nearest name is " + nearestRegion(all, want)}
	case len(found) > 1:
		return antipode.Region{}, &WishError{flag, name, "means both " + found[0].ID() + " and " + found[1].ID()}
	}
	return found[0], checkCloud(all, flag, name, found[0].Cloud)
}

// nearestRegion is the id of the region, of a cloud machines can be launched in,
// whose id or bare name is nearest to name.
func nearestRegion(all []antipode.Region, name string) string {
	clouds, byName := measurable(all), map[string]string{}
	var known []string
	for _, r := range all {
		called := r.Name
		if strings.Contains(name, ":") {
			called = r.ID()
		}
		if slices.Contains(clouds, r.Cloud) && byName[called] == "" {
			byName[called] = r.ID()
			known = append(known, called)
		}
	}
	return byName[nearest.Of(name, known)]
}
