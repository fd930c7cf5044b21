// Command bundle makes package page's dist: the script, the style sheet and the
// licences of what is in them, from web/src and the npm packages in modules.tgz.
// It is a module of its own, so that building antipode needs neither it nor npm.
//
//	go run .                     # dist anew, after a change of web/src
//	go run . -pack node_modules  # modules.tgz anew, after npm ci in web
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	packed := flag.String("pack", "", "make modules.tgz of this `FOLDER` of npm packages first")
	page := flag.String("page", "..", "the `FOLDER` of package page")
	flag.Parse()
	if err := run(*page, *packed); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(page, packed string) error {
	if packed != "" {
		if err := packModules(page, packed); err != nil {
			return err
		}
	}
	files, err := build(page)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(page, "dist", name), content, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d bytes\n", name, len(content))
	}
	return nil
}
