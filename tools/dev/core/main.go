package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// parts are the folders and files of extras outside extras/. The longest match for a file counts.
var parts = map[string]string{
	"cmd/dev-issuer":     "access",
	"cmd/subscriber":     "publishing",
	"cmd/threadctl":      "operate",
	"cmd/web":            "page",
	"docs/asyncapi.yaml": "publishing",
	"docs/docs.go":       "lab", // and what it embeds
	"docs/guarantees.md": "lab",
	"tools/dev/browser":  "page",
	"tools/dev/page":     "page",

	// what tells of, measures or changes everything
	".ci":                     "whole",
	".github":                 "whole",
	"docs":                    "whole",
	"deploy":                  "whole",
	"docker-compose.yml":      "whole",
	"SECURITY.md":             "whole",
	"tests/clients":           "whole",
	"tests/e2e":               "whole",
	"tests/fuzz":              "whole",
	"tests/limits":            "whole",
	"tools/bench":             "whole",
	"tools/dev/compose-check": "whole",
	"tools/dev/core":          "whole",
	"tools/dev/scaffold":      "whole",
	"tools/dev/tutorial":      "whole",
}

// readme is the copy's README.md.
const readme = "tools/dev/core/README.md"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root := flag.String("root", ".", "folder of the project")
	to := flag.String("dir", "", "folder for the copy; it must be empty, or not exist")
	flag.Parse()
	if err := run(ctx, *root, *to, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "core:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, to string, extras []string) error {
	if to == "" {
		return errors.New(`DIR is missing; for example: make core DIR=../core EXTRAS="access limits"`)
	}
	kept, err := withNeeded(root, extras)
	if err != nil {
		return err
	}
	if found, err := os.ReadDir(to); err == nil && len(found) > 0 {
		return fmt.Errorf("%s is not empty: name another folder, or empty it", to)
	}
	if err := copyTree(ctx, root, to, kept); err != nil {
		return err
	}
	fmt.Printf("Copied to %s with the extras: %s. Generating code ...\n", to, cmp.Or(strings.Join(kept, ", "), "none"))
	for _, command := range []string{
		"git init -q .", "go generate ./...", "go mod tidy", "go -C tools/dev mod tidy", "git add -A",
	} {
		if err := do(ctx, to, strings.Fields(command)...); err != nil {
			return err
		}
	}
	fmt.Printf("Done. Go on with: cd %s && make run\n", to)
	return nil
}

// withNeeded returns the extras with those that they import, sorted.
func withNeeded(root string, extras []string) (kept []string, err error) {
	for len(extras) > 0 {
		name := extras[0]
		extras = extras[1:]
		if slices.Contains(kept, name) {
			continue
		}
		needed, err := imported(filepath.Join(root, "extras", name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no extra %q; see the folders in extras/", name)
		}
		if err != nil {
			return nil, err
		}
		kept, extras = append(kept, name), append(extras, needed...)
	}
	slices.Sort(kept)
	return kept, nil
}

var importOfExtra = regexp.MustCompile(`"example\.com/threads/extras/([a-z]+)[/"]`)

// imported returns the extras that an extra imports.
func imported(folder string) (extras []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		code, err := os.ReadFile(path)
		for _, found := range importOfExtra.FindAllSubmatch(code, -1) {
			extras = append(extras, string(found[1]))
		}
		return err
	})
	return extras, err
}

// copyTree copies the files that git would add.
func copyTree(ctx context.Context, root, to string, kept []string) error {
	list := exec.CommandContext(ctx, "git", "ls-files", "--cached", "--others", "--exclude-standard")
	list.Dir, list.Stderr = root, os.Stderr
	paths, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the project's files: %w", err)
	}
	for path := range strings.SplitSeq(strings.TrimSpace(string(paths)), "\n") {
		if owner := ownerOf(path); owner != "" && !slices.Contains(kept, owner) {
			continue
		}
		err := copyFile(root, to, path, kept)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted, and not committed yet
			return fmt.Errorf("copy %s: %w", path, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, readme))
	if err != nil {
		return err
	}
	rest, _, err := cut(string(text), kept)
	if err != nil {
		return fmt.Errorf("%s: %w", readme, err)
	}
	return os.WriteFile(filepath.Join(to, "README.md"), []byte(rest), 0o644)
}

// ownerOf returns the extra that a file belongs to; empty: the core, or it has marks.
func ownerOf(path string) string {
	if rest, is := strings.CutPrefix(path, "extras/"); is {
		name, _, _ := strings.Cut(rest, "/")
		return name
	}
	owner, longest := "", ""
	for folder, extra := range parts {
		if (path == folder || strings.HasPrefix(path, folder+"/")) && len(folder) > len(longest) {
			owner, longest = extra, folder
		}
	}
	return owner
}

func copyFile(root, to, path string, kept []string) error {
	info, err := os.Stat(filepath.Join(root, path))
	if err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return err
	}
	rest, any, err := cut(string(content), kept)
	if err != nil || !any {
		return err
	}
	written := []byte(rest)
	if filepath.Ext(path) == ".go" && rest != string(content) {
		if written, err = withoutUnused(written); err != nil {
			return fmt.Errorf("what is left is no Go: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(to, path)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, path), written, info.Mode().Perm())
}

func do(ctx context.Context, folder string, command ...string) error {
	started := exec.CommandContext(ctx, command[0], command[1:]...)
	started.Dir = folder
	output, err := started.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s in %s: %w\n%s", strings.Join(command, " "), folder, err, output)
	}
	return nil
}
