package main

import (
	"fmt"
	"path/filepath"
	"time"
)

// kept are the flags that a resume needs again, by name: where the run's
// clouds are, and how patient to be with them. The controller's address is not
// one: it may have changed.
func (f *sweepFlags) kept() map[string]*string {
	return map[string]*string{"lab": &f.labName, "aws-profile": &f.awsProfile, "aws-role": &f.awsRole, "gcp-project": &f.gcpProject,
		"hosts": &f.hostsFile, "regions-file": &f.lab.regionsFile, "prices": &f.pricesFile, "into": &f.into.file}
}

func (f *sweepFlags) keptTimes() map[string]*time.Duration {
	return map[string]*time.Duration{"boot-timeout": &f.bootTimeout, "reconnect-timeout": &f.reconnect, "call-timeout": &f.callTimeout}
}

// forResume is what run.json holds of them.
func (f *sweepFlags) forResume() map[string]string {
	all := map[string]string{}
	for name, value := range f.kept() {
		if *value != "" {
			all[name] = *value
		}
	}
	for _, name := range []string{"hosts", "regions-file", "prices", "into"} { // wherever the resume is called
		if path, err := filepath.Abs(all[name]); err == nil && all[name] != "" {
			all[name] = path
		}
	}
	for name, value := range f.keptTimes() {
		all[name] = value.String()
	}
	return all
}

// restore undoes forResume; flags that are set already keep their value.
func (f *sweepFlags) restore(all map[string]string) error {
	for name, value := range f.kept() {
		if *value == "" {
			*value = all[name]
		}
	}
	for name, value := range f.keptTimes() {
		if all[name] == "" { // of a version that had no such flag
			continue
		}
		d, err := time.ParseDuration(all[name])
		if err != nil {
			return fmt.Errorf("run.json: command: %s: %w", name, err)
		}
		*value = d
	}
	return nil
}

// findAgain reads what the kept flags name.
func (f *sweepFlags) findAgain() error {
	if err := f.checkLab(); err != nil || f.hostsFile == "" {
		return err
	}
	regions, err := regionsFrom(f.lab.regionsFile)
	if err != nil {
		return err
	}
	f.machines = machineTypes{preferences{}}
	_, err = f.withHosts(regions)
	return err
}
