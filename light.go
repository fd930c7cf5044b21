package antipode

// The light floor: no packet is faster. A measured RTT under the vacuum floor
// is a wrong number or a wrong place. One under the fibre floor is suspect: the
// ways around glass (microwave, hollow-core fibre) are not what clouds are
// known to use over long distances.
const (
	// LightKmPerS is the speed of light in vacuum in km/s, exact by the
	// definition of the metre.
	LightKmPerS = 299_792.458

	// FibreGroupIndex is how many times slower a pulse of light is in
	// single-mode fibre: the effective group index in Corning's product
	// information for SMF-28 Ultra is 1.4682 at 1550 nm and 1.4676 at 1310 nm.
	FibreGroupIndex = 1.468
)

// VacuumRTTMs is the least possible round-trip time over a distance of km, in
// milliseconds, by light in vacuum along the great circle and back.
func VacuumRTTMs(km float64) float64 { return 2 * km / LightKmPerS * 1000 }

// FibreRTTMs is the least round-trip time over a distance of km, in
// milliseconds, by light in a fibre laid along the great circle.
func FibreRTTMs(km float64) float64 { return VacuumRTTMs(km) * FibreGroupIndex }
