package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are the licences that let anyone ship a program with the dependency. With MPL-2.0, changes of the dependency
// itself must be published.
var allowed = []string{"MIT", "MIT-0", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "0BSD", "Unlicense", "CC0-1.0", "Zlib", "MPL-2.0"}

// sure is the part of a file in percent that must be the text of a licence.
const sure = 75

// checkLicence returns an error unless all licence files of the module have allowed licences, and there is one.
func (m module) checkLicence() error {
	var known bool
	files, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		name := strings.ToUpper(file.Name())
		isLicence := strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "COPYING") || strings.HasPrefix(name, "UNLICEN")
		if file.IsDir() || !isLicence {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, file.Name()))
		if err != nil {
			return err
		}
		covered := licensecheck.Scan(text)
		for _, match := range covered.Match {
			if !slices.Contains(allowed, match.ID) {
				return fmt.Errorf("%s has the licence %s in %s, which is not allowed", m.Path, match.ID, file.Name())
			}
		}
		known = known || covered.Percent >= sure
	}
	if !known {
		return fmt.Errorf("%s has no licence that is known", m.Path)
	}
	return nil
}

// checkPackages checks the npm packages of a lock file that become part of what is shipped.
func checkPackages(lock string) error {
	text, err := os.ReadFile(lock)
	if err != nil {
		return err
	}
	var locked struct {
		Packages map[string]struct {
			License string
			Dev     bool
		}
	}
	if err := json.Unmarshal(text, &locked); err != nil {
		return fmt.Errorf("%s: %w", lock, err)
	}
	for name, p := range locked.Packages {
		if name != "" && !p.Dev && !slices.Contains(allowed, p.License) {
			return fmt.Errorf("%s: %s has the licence %q, which is not allowed", lock, name, p.License)
		}
	}
	return nil
}
