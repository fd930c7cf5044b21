package trace

// FlagBurst: the goodput is above what the machine's type gets in the long run.
// It is paid for by tokens of which nobody outside the cloud knows how many are
// left: no test can see the end of a burst before it comes, only the baseline
// of the type tells of it.
const FlagBurst = "burst"

// Bursting says whether a goodput, in bit/s, can't last on a machine with a
// baseline, in bit/s of IP packets; 0 is none, or one that is not known. What
// is held to the baseline is below it, by the size of the headers.
func Bursting(goodputBps, baselineBps float64) bool {
	return baselineBps > 0 && goodputBps > baselineBps
}
