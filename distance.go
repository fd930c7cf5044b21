package antipode

import (
	"math"

	"github.com/golang/geo/s2"
)

// EarthRadiusKm is the Earth's mean radius R1 = (2a + b) / 3, in km, from
// H. Moritz, "Geodetic Reference System 1980", Journal of Geodesy 74 (2000),
// 128-133.
const EarthRadiusKm = 6371.0088

// DistanceKm is the great-circle distance between two regions in km: 0 to half
// the Earth's circumference (20,015), the same in both directions to the last bit. A
// sphere is at most 0.56 % off the ellipsoid, and the places are less certain.
// It is NaN when either is Unplaced.
func DistanceKm(a, b Region) float64 {
	if a.Unplaced || b.Unplaced {
		return math.NaN()
	}
	// The order decides the last bit of the haversine, so it is fixed here.
	if b.Latitude < a.Latitude || b.Latitude == a.Latitude && b.Longitude < a.Longitude {
		a, b = b, a
	}
	return a.point().Distance(b.point()).Radians() * EarthRadiusKm
}

func (r Region) point() s2.LatLng { return s2.LatLngFromDegrees(r.Latitude, r.Longitude) }
