package model

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed models
var models embed.FS

// read reads the models of a cloud's services.
func read[M any](cloud string) ([]*M, error) {
	folder := "models/" + cloud
	files, err := models.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []*M
	for _, f := range files {
		raw, err := models.ReadFile(folder + "/" + f.Name())
		if err != nil {
			return nil, err
		}
		m := new(M)
		if err := json.Unmarshal(raw, m); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		all = append(all, m)
	}
	return all, nil
}
