package antipode

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The distances are of the WGS84 ellipsoid, by Vincenty's inverse formula, for
// the same coordinates; the sphere may be 0.56 % off.
func TestDistanceKm(t *testing.T) {
	for _, c := range []struct {
		from, to string
		wantKm   float64
	}{
		{"aws:eu-west-2", "aws:eu-west-3", 343.9},
		{"aws:us-east-1", "aws:eu-west-1", 5475.1},
		{"aws:ap-southeast-1", "aws:ap-southeast-2", 6300.9},
		{"aws:ap-northeast-1", "aws:us-west-2", 7993.3},
		{"aws:sa-east-1", "aws:ap-northeast-1", 18533.5},
	} {
		a, b := region(t, c.from), region(t, c.to)
		if got := DistanceKm(a, b); math.Abs(got-c.wantKm) > 0.0056*c.wantKm {
			t.Errorf("DistanceKm(%s, %s) = %.1f, want %.1f within 0.56 %%", c.from, c.to, got, c.wantKm)
		}
	}
}

func TestDistanceKmOfExtremes(t *testing.T) {
	pole, antipole := Region{Latitude: 90}, Region{Latitude: -90, Longitude: 77}
	half := math.Pi * EarthRadiusKm
	if got := DistanceKm(pole, antipole); math.Abs(got-half) > 1e-6 {
		t.Errorf("pole to pole = %v km, want %v", got, half)
	}
	east, west := Region{Longitude: 180}, Region{Longitude: -180}
	if got := DistanceKm(east, west); got > 1e-6 {
		t.Errorf("across the antimeridian = %v km, want 0", got)
	}
	quarter := DistanceKm(Region{}, Region{Longitude: 90})
	if math.Abs(quarter-half/2) > 1e-6 {
		t.Errorf("a quarter of the equator = %v km, want %v", quarter, half/2)
	}
}

func TestDistanceKmOfUnplaced(t *testing.T) {
	for _, pair := range [][2]Region{{{Unplaced: true}, {}}, {{}, {Unplaced: true}}, {{Unplaced: true}, {Unplaced: true}}} {
		if got := DistanceKm(pair[0], pair[1]); !math.IsNaN(got) {
			t.Errorf("DistanceKm(%+v, %+v) = %v, want NaN", pair[0], pair[1], got)
		}
	}
}

func TestDistanceKmIsAMetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	place := func() Region {
		return Region{Latitude: 180*rng.Float64() - 90, Longitude: 360*rng.Float64() - 180}
	}
	for range 10_000 {
		a, b, c := place(), place(), place()
		ab := DistanceKm(a, b)
		if ba := DistanceKm(b, a); ab != ba {
			t.Fatalf("%+v, %+v: %v there, %v back", a, b, ab, ba)
		}
		if ab < 0 || ab > math.Pi*EarthRadiusKm || DistanceKm(a, a) != 0 {
			t.Fatalf("%+v, %+v: %v km", a, b, ab)
		}
		if sum := DistanceKm(a, c) + DistanceKm(c, b); ab > sum+1e-6 {
			t.Fatalf("%+v, %+v: %v km is longer than %v by way of %+v", a, b, ab, sum, c)
		}
	}
}

func TestLightFloor(t *testing.T) {
	if got := VacuumRTTMs(LightKmPerS); got != 2000 {
		t.Errorf("a light second and back = %v ms", got)
	}
	if got, want := FibreRTTMs(1000), 9.794; math.Abs(got-want) > 0.001 {
		t.Errorf("FibreRTTMs(1000) = %v, want %v", got, want)
	}
	for km := 0.0; km < 20_016; km += 13 {
		vacuum, fibre := VacuumRTTMs(km), FibreRTTMs(km)
		if vacuum < 0 || fibre < vacuum || km > 0 && fibre == vacuum {
			t.Fatalf("%v km: vacuum %v ms, fibre %v ms", km, vacuum, fibre)
		}
	}
}

func region(t *testing.T, id string) Region {
	t.Helper()
	r, ok := Find(Regions(), id)
	if !ok {
		t.Fatalf("no region %s", id)
	}
	return r
}
