package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/vuln/scan"
)

// vulnerabilities returns an error that names the packages with known vulnerabilities that the module's packages
// import, and tells those of Go.
func vulnerabilities(ctx context.Context, folder, version string) error {
	database, err := os.MkdirTemp("", "vulndb-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(database) }()
	if err := index(ctx, database, version); err != nil {
		return fmt.Errorf("the vulnerability database %s: %w", version, err)
	}
	found, err := scanned(ctx, folder, database)
	if err != nil {
		return err
	}
	var failed []error
	newerGo := map[string]bool{} // what a newer Go mends
	for _, f := range found {
		at := f.Trace[0]
		if at.Module == "stdlib" {
			newerGo[f.OSV+" (mended in "+f.FixedVersion+")"] = true
		} else {
			failed = append(failed, fmt.Errorf("%s: %s of %s %s; mended in %s", f.OSV, at.Package, at.Module, at.Version, f.FixedVersion))
		}
	}
	if len(newerGo) > 0 {
		fmt.Printf("dependencies: no fault, a warning: %s is not the newest Go; build what you ship with one that mends %s\n",
			runtime.Version(), strings.Join(slices.Sorted(maps.Keys(newerGo)), ", "))
	}
	return errors.Join(failed...)
}

// finding is a vulnerability in an imported package.
type finding struct {
	OSV          string `json:"osv"`
	FixedVersion string `json:"fixed_version"`
	Trace        []struct{ Module, Version, Package string }
}

func scanned(ctx context.Context, folder, database string) (found []finding, err error) {
	var printed, complaints bytes.Buffer
	command := scan.Command(ctx, "-C", folder, "-db", "file://"+database, "-scan", "package", "-format", "json", "./...")
	command.Stdout, command.Stderr = &printed, &complaints
	if err := command.Start(); err != nil {
		return nil, err
	}
	if err := command.Wait(); err != nil {
		return nil, fmt.Errorf("the scan failed: %w\n%s", err, &complaints)
	}
	for decoder := json.NewDecoder(&printed); ; {
		var message struct{ Finding *finding }
		switch err := decoder.Decode(&message); {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, err
		case message.Finding != nil && message.Finding.Trace[0].Package != "":
			found = append(found, *message.Finding)
		}
	}
}

// index writes a version of the database in the form that the scan reads: https://go.dev/doc/security/vuln/database.
func index(ctx context.Context, into, version string) error {
	printed, err := output(ctx, os.TempDir(), "mod", "download", "-json", "golang.org/x/vulndb@"+version)
	if err != nil {
		return err
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(printed, &downloaded); err != nil {
		return err
	}
	reports, err := filepath.Glob(filepath.Join(downloaded.Dir, "data", "osv", "*.json"))
	if err != nil {
		return err
	}
	type vulnerability struct {
		ID       string    `json:"id"`
		Modified time.Time `json:"modified"`
	}
	type vulnerable struct {
		Path  string          `json:"path"`
		Vulns []vulnerability `json:"vulns"`
	}
	modules := map[string]vulnerable{}
	for _, report := range reports {
		text, err := os.ReadFile(report)
		if err != nil {
			return err
		}
		var read struct {
			vulnerability
			Affected []struct{ Package struct{ Name string } }
		}
		if err := json.Unmarshal(text, &read); err != nil {
			return fmt.Errorf("%s: %w", report, err)
		}
		for _, affected := range read.Affected {
			name := affected.Package.Name
			modules[name] = vulnerable{name, append(modules[name].Vulns, read.vulnerability)}
		}
		if err := write(text, into, "ID", read.ID+".json"); err != nil {
			return err
		}
	}
	if len(modules) == 0 {
		return errors.New("it has no reports")
	}
	byModule, err := json.Marshal(slices.Collect(maps.Values(modules)))
	if err != nil {
		return err
	}
	return errors.Join(write(byModule, into, "index", "modules.json"), write([]byte(`{"modified":"2026-01-01T00:00:00Z"}`), into, "index", "db.json"))
}

func write(text []byte, path ...string) error {
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
