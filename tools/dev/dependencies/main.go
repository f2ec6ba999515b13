// Command dependencies checks what the programs and the page are made of: it fails for a package with a known
// vulnerability and for a licence that is not in the list below.
//
//	go run ./dependencies [-root ../..] [-vulndb version]
//
// The vulnerabilities come from a version of the Go vulnerability database, as a module, so that the result changes
// only with the tree: raise the version now and then, or ask for latest. Those of Go itself are told and are no
// failure, because they go away with another Go.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// vulndb is the version of the vulnerability database; see go list -m -json golang.org/x/vulndb@latest.
const vulndb = "v0.0.0-20261105234957-e22db6528018"

func main() {
	root := flag.String("root", ".", "the folder of the clone")
	version := flag.String("vulndb", vulndb, "the version of the vulnerability database, or latest")
	flag.Parse()
	if err := run(context.Background(), *root, *version); err != nil {
		fmt.Fprintln(os.Stderr, "dependencies:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, version string) error {
	failed := []error{vulnerabilities(ctx, root, version)}
	modules, err := modulesOf(ctx, root)
	if err != nil {
		return err
	}
	for _, m := range modules {
		failed = append(failed, m.checkLicence())
	}
	locks, err := filepath.Glob(filepath.Join(root, "extras", "*", "src", "package-lock.json"))
	if err != nil {
		return err
	}
	for _, lock := range locks {
		failed = append(failed, checkPackages(lock))
	}
	return errors.Join(failed...)
}

// module is a Go module whose packages are in a program.
type module struct {
	Path, Dir string
	Main      bool
	Replace   *struct{ Version string } // without a version: a folder of this tree
}

func (m module) isOwn() bool { return m.Main || m.Replace != nil && m.Replace.Version == "" }

func modulesOf(ctx context.Context, root string) ([]module, error) {
	list, err := output(ctx, root, "list", "-deps", "-json=Module", "./cmd/...")
	if err != nil {
		return nil, err
	}
	found := map[string]module{}
	for decoder := json.NewDecoder(bytes.NewReader(list)); ; {
		var in struct{ Module *module }
		switch err := decoder.Decode(&in); {
		case errors.Is(err, io.EOF):
			return slices.Collect(maps.Values(found)), nil
		case err != nil:
			return nil, err
		case in.Module != nil && !in.Module.isOwn():
			found[in.Module.Path] = *in.Module
		}
	}
}

func output(ctx context.Context, folder string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Stderr = folder, os.Stderr
	printed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return printed, nil
}
