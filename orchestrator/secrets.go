package orchestrator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// secretsFile holds the run's keys while it goes on, for its owner only.
const secretsFile = "secrets.json"

// keepSecrets writes what another process needs to reach the run's machines.
// It is on disk before the first machine is made.
func keepSecrets(cfg Config) error {
	for _, r := range cfg.regions() {
		if _, _, err := cfg.Remote.HostKey(r.ID()); err != nil {
			return fmt.Errorf("make host key: %w", err)
		}
	}
	data, err := cfg.Remote.Secrets()
	if err == nil {
		err = replaceFile(cfg.Dir, secretsFile, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the run's keys: %w", err)
	}
	return nil
}

// readSecrets returns nil if there are none.
func readSecrets(dir string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, secretsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// forgetSecrets deletes the keys of a run that has nothing left to reach.
func forgetSecrets(dir string) error {
	var failed error
	for _, name := range []string{secretsFile, secretsFile + ".new"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, fmt.Errorf("delete the run's keys: %w", err))
		}
	}
	return errors.Join(failed, syncDir(dir))
}
