//go:build linux

package main

import (
	"encoding/csv"
	"errors"
	"os"

	"github.com/antipode-bench/antipode/probe/wire"
)

// sampleMs is between two samples that are kept.
const sampleMs = 100

// sampleFile takes the samples of tests; nil takes none.
type sampleFile struct {
	file *os.File
	csv  *csv.Writer
}

// createSamples makes the file, if a path is given, with its header.
func createSamples(path string) (*sampleFile, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	s := &sampleFile{file, csv.NewWriter(file)}
	return s, s.csv.Write(append([]string{"from", "to"}, wire.SampleColumns()...))
}

// add writes a result, which is nil when nothing was received.
func (s *sampleFile) add(from, to string, r *wire.ThroughputResult) error {
	if s == nil || r == nil {
		return nil
	}
	return s.write(from, to, r.SampleRows())
}

// addUDP likewise.
func (s *sampleFile) addUDP(from, to string, r *wire.UDPResult) error {
	if s == nil {
		return nil
	}
	return s.write(from, to, r.SampleRows())
}

func (s *sampleFile) write(from, to string, rows [][]string) error {
	for _, row := range rows {
		if err := s.csv.Write(append([]string{from, to}, row...)); err != nil {
			return err
		}
	}
	return nil
}

func (s *sampleFile) close() error {
	if s == nil {
		return nil
	}
	s.csv.Flush()
	return errors.Join(s.csv.Error(), s.file.Close())
}
