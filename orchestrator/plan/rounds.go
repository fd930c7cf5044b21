package plan

// chair is a seat by number, so that a schedule of thousands of tasks counts in
// slices.
type chair = int

// rounds gives every task, a pair of chairs, a round, so that no chair has two
// tasks in one: an edge colouring. It takes as few rounds as the busiest chair
// has tasks where senders meet receivers (König 1916) and where everyone meets
// everyone and is even in number, few more elsewhere.
func rounds(tasks [][2]chair, chairs int) []int {
	c := colouring{byChair: make([]map[int]int, chairs), tasks: tasks, rounds: make([]int, len(tasks))}
	degree := make([]int, chairs)
	for i := range c.byChair {
		c.byChair[i] = map[int]int{}
	}
	for _, t := range tasks {
		degree[t[0]]++
		degree[t[1]]++
		c.enough = max(c.enough, degree[t[0]], degree[t[1]])
	}
	for i := range tasks {
		c.colour(i)
	}
	return c.rounds
}

type colouring struct {
	tasks   [][2]chair
	rounds  []int         // by task
	byChair []map[int]int // round to task
	enough  int           // rounds that would do, if all goes well
}

// colour gives task i a round free at both ends. Where there is none, it swaps
// two rounds along the path of tasks that alternate between them (Kempe), and
// opens a new round only if that path comes back to where it began.
func (c *colouring) colour(i int) {
	a, b := c.tasks[i][0], c.tasks[i][1]
	if r := c.free(a, b); r < c.enough {
		c.set(i, r)
		return
	}
	ra, rb := c.free(a, a), c.free(b, b)
	path, end := c.path(b, ra, rb)
	if end == a {
		c.set(i, c.free(a, b))
		return
	}
	c.swap(path, ra, rb)
	c.set(i, ra)
}

// free is the first round in which neither chair has a task.
func (c *colouring) free(a, b chair) int {
	for r := 0; ; r++ {
		_, atA := c.byChair[a][r]
		_, atB := c.byChair[b][r]
		if !atA && !atB {
			return r
		}
	}
}

// path follows tasks of round r, then other, then r, ... from a chair. It ends,
// because no chair has two tasks of a round and the first chair has none of
// other.
func (c *colouring) path(from chair, r, other int) (path []int, end chair) {
	for {
		i, ok := c.byChair[from][r]
		if !ok {
			return path, from
		}
		path = append(path, i)
		from = c.tasks[i][0] + c.tasks[i][1] - from
		r, other = other, r
	}
}

func (c *colouring) swap(path []int, ra, rb int) {
	for _, i := range path {
		for _, at := range c.tasks[i] {
			delete(c.byChair[at], c.rounds[i])
		}
	}
	for _, i := range path {
		c.set(i, ra+rb-c.rounds[i])
	}
}

func (c *colouring) set(i, r int) {
	c.rounds[i] = r
	for _, at := range c.tasks[i] {
		c.byChair[at][r] = i
	}
}
