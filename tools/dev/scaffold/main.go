// Command scaffold writes a small working aggregate into the tree: its rules, JSON, rows, parts of both APIs, and
// tests. `make new-aggregate NAME=order` runs it. The written files belong to the team and are never generated again.
//
// The templates are in the folder template, where the aggregate is called gadget.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/threads/tools/dev/internal/words"
)

//go:embed template
var templates embed.FS

func main() {
	root := flag.String("root", ".", "folder of the system's go.mod")
	check := flag.Bool("check", false, "only report whether the name can be used")
	flag.Parse()
	err := checkName(flag.Arg(0))
	if err == nil && !*check {
		err = run(context.Background(), *root, flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "scaffold: %v\n", err)
		os.Exit(1)
	}
}

// run writes the named aggregate, generates code from the GraphQL schema, and writes the golden files.
func run(ctx context.Context, root, name string) error {
	files, err := filesOf(root, name)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := f.write(root); err != nil {
			return err
		}
		fmt.Println(f.path)
	}
	for _, command := range [][]string{
		{"go", "generate", "./..."},
		{"go", "test", "./interfaceadaptor/eventjson"},
	} {
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "UPDATE_GOLDEN=1")
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, output)
		}
	}
	return nil
}

// taken are names that this application uses for something else.
var taken = []string{"message", "member", "query", "subscription", "error", "string", "tenant", "event", "command", "name", "role", "text", "id",
	"connection", "edge", "cursors", "resolver", "settings", "executable"}

var usable = regexp.MustCompile(`^[a-z][a-z0-9]{1,30}$`)

func checkName(name string) error {
	if !usable.MatchString(name) {
		return errors.New("the aggregate's name must be one word of small letters, such as order: make new-aggregate NAME=order")
	}
	if token.IsKeyword(name) || slices.Contains(taken, name) {
		return fmt.Errorf("the name %s is taken: Go or this application uses it for something else", name)
	}
	return nil
}

// filesOf returns the files that the aggregate adds, and the changed files with lists. It writes nothing.
func filesOf(root, name string) ([]file, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "domain", name)); err == nil {
		return nil, fmt.Errorf("the name %s is taken: domain/%s exists already, and nothing is overwritten", name, name)
	}
	named := words.Of(name)
	number, err := nextMigration(filepath.Join(root, "rdb-migration/readmodel/mysql"))
	if err != nil {
		return nil, err
	}
	var files []file
	err = fs.WalkDir(templates, "template", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := templates.ReadFile(path)
		to := strings.TrimSuffix(strings.TrimPrefix(path, "template/"), ".tmpl")
		files = append(files, file{path: strings.Replace(named.Replace(to), "NUMBER", number, 1), content: named.Replace(string(content)), isNew: true})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		changed, err := list.with(root, named)
		if err != nil {
			return nil, err
		}
		files = append(files, changed)
	}
	return files, nil
}
