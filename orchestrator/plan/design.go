package plan

// design is a set of lines over groups, any two of which are in a line together.
type design struct {
	groups int
	lines  [][]int
}

// designs are those worth trying for a number of regions, in families, those of
// few lines first: all couples of groups, and the affine and projective planes of
// orders that are primes and four, that have no more groups than there are regions.
func designs(regions int) (families [2][]design) {
	const maxCouples = 40
	for n := 3; n <= min(regions, maxCouples); n++ {
		families[0] = append(families[0], couples(n))
	}
	for _, f := range []galois{prime(2), prime(3), four, prime(5), prime(7), prime(11)} {
		for _, d := range []design{affine(f), projective(f)} {
			if d.groups <= regions {
				families[1] = append(families[1], d)
			}
		}
	}
	return families
}

// couples lets each two groups meet by themselves.
func couples(groups int) design {
	d := design{groups: groups}
	for a := range groups {
		for b := range a {
			d.lines = append(d.lines, []int{a, b})
		}
	}
	return d
}

// galois is a finite field of so many elements, 0 the zero and 1 the one.
type galois struct {
	order    int
	add, mul func(a, b int) int
}

func prime(p int) galois {
	return galois{p, func(a, b int) int { return (a + b) % p }, func(a, b int) int { return a * b % p }}
}

// four is the field of four elements: polynomials over two, modulo x*x + x + 1.
var four = galois{4,
	func(a, b int) int { return a ^ b },
	func(a, b int) int { return [4][4]int{{}, {0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}}[a][b] },
}

// affine is the plane of f: the points (x, y), and the lines y = m x + c and
// x = c. Any two points are in exactly one.
func affine(f galois) design {
	q := f.order
	d := design{groups: q * q}
	for c := range q {
		for m := range q {
			var sloped []int
			for x := range q {
				sloped = append(sloped, x*q+f.add(f.mul(m, x), c))
			}
			d.lines = append(d.lines, sloped)
		}
		var upright []int
		for y := range q {
			upright = append(upright, c*q+y)
		}
		d.lines = append(d.lines, upright)
	}
	return d
}

// projective is the affine plane with a point at infinity for each direction,
// and a line through these.
func projective(f galois) design {
	q := f.order
	d := affine(f)
	var infinity []int
	for direction := range q + 1 { // a slope, and upright in the end
		infinity = append(infinity, q*q+direction)
		for c := range q {
			i := c*(q+1) + direction
			d.lines[i] = append(d.lines[i], q*q+direction)
		}
	}
	d.groups += q + 1
	d.lines = append(d.lines, infinity)
	return d
}
