package results

import "io"

// batchLines is how many lines are handed from one goroutine to the other at a
// time, and batches how many of these there are.
const batchLines, batches = 256, 3

// batch is some lines and the room for their cells.
type batch struct {
	lines []csvLine
	room  []string
}

// ScanAll reads a file as a Scanner does, with two CPUs: one takes lines apart,
// the other makes rows of them. It calls row and bad in the order of the file.
// Errors are as of NewScanner and Next.
func ScanAll(name string, r io.Reader, row func(Row), bad func(BadRow)) error {
	s, err := openScanner(name, r)
	if err != nil {
		return err
	}
	full, free := make(chan *batch, batches), make(chan *batch, batches)
	for range batches {
		free <- &batch{room: make([]string, 0, batchLines*s.checked.columns)}
	}
	go s.fill(full, free) // ends with the file, which is read to its end below
	s.next = takeFrom(full, free)
	if err := s.begin(); err != nil {
		return err
	}
	for {
		r, b, err := s.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case b != nil:
			bad(*b)
		default:
			row(r)
		}
	}
}

// fill sends every line, the last of which has an error that is not of a line
// alone.
func (s *Scanner) fill(full chan<- *batch, free <-chan *batch) {
	defer close(full)
	for b := range free {
		b.lines, b.room = b.lines[:0], b.room[:0]
		for len(b.lines) < batchLines {
			l := s.checked.line()
			at := len(b.room)
			b.room = append(b.room, l.cells...) // the reader's own are used again
			l.cells = b.room[at:len(b.room):len(b.room)]
			b.lines = append(b.lines, l)
			if l.ends() {
				full <- b
				return
			}
		}
		full <- b
	}
}

// takeFrom gives one line after the other. A batch is free again when the line
// after its last is asked for.
func takeFrom(full <-chan *batch, free chan<- *batch) func() csvLine {
	var now *batch
	at := 0
	return func() csvLine {
		if now == nil || at == len(now.lines) {
			if now != nil {
				free <- now
			}
			next, more := <-full
			if !more {
				now = nil
				return csvLine{err: io.EOF}
			}
			now, at = next, 0
		}
		at++
		return now.lines[at-1]
	}
}
