package charts

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed land.txt
var landText string

// degrees is a place on the globe.
type degrees struct{ longitude, latitude float64 }

// land are the outlines of all land. A ring that goes over the date line goes on
// beyond 180°.
var land = sync.OnceValue(func() (rings [][]degrees) {
	for line := range strings.Lines(landText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		rings = append(rings, ring(strings.TrimSpace(line)))
	}
	return rings
})

func ring(line string) (r []degrees) {
	for place := range strings.SplitSeq(line, ",") {
		longitude, latitude, _ := strings.Cut(place, " ")
		var d degrees
		d.longitude, _ = strconv.ParseFloat(longitude, 64)
		d.latitude, _ = strconv.ParseFloat(latitude, 64)
		if len(r) > 0 {
			d.longitude = near(d.longitude, r[len(r)-1].longitude)
		}
		r = append(r, d)
	}
	return r
}

// near is a longitude, some whole turns away, that is less than half a turn from
// another one.
func near(longitude, other float64) float64 {
	for longitude-other > 180 {
		longitude -= 360
	}
	for other-longitude > 180 {
		longitude += 360
	}
	return longitude
}
