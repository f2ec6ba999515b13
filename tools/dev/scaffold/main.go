// Command scaffold writes a small working aggregate into the tree: its rules, JSON, rows, parts of both APIs, and
// tests. `make new-aggregate NAME=order` runs it. With PROCESS=yes it also writes a process manager: an order may
// replace another one, which is closed then. The written files belong to the team and are never generated again.
//
// The templates are in the folders template and process, where the aggregate is called gadget.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/threads/tools/dev/internal/words"
)

//go:embed template process
var templates embed.FS

func main() {
	root := flag.String("root", ".", "folder of the system's go.mod")
	process := flag.String("process", "no", "yes: also writes a process manager, which closes what a new aggregate replaces (PROCESS)")
	check := flag.Bool("check", false, "only report whether the name can be used at all")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Writes a small working aggregate: make new-aggregate NAME=order [PROCESS=yes]")
		flag.PrintDefaults()
	}
	flag.Parse()
	err := checkName(flag.Arg(0))
	switch {
	case err != nil || *check:
	case *process != "yes" && *process != "no":
		err = errors.New("PROCESS must be yes or no")
	default:
		err = run(context.Background(), os.Stdout, *root, flag.Arg(0), *process == "yes")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "scaffold: %v\n", err)
		os.Exit(1)
	}
}

// run writes the named aggregate, generates code from the GraphQL schema, and writes the golden files.
func run(ctx context.Context, out io.Writer, root, name string, process bool) error {
	files, err := filesOf(root, name, process)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := f.write(root); err != nil {
			return err
		}
		done := "changed"
		if f.isNew {
			done = "written"
		}
		fmt.Fprintf(out, "%s: %s\n", done, f.path)
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
	fmt.Fprintf(out, "written: interfaceadaptor/eventjson/testdata/%[1]s\nchanged: generated code\nGo on with domain/%[1]s, and with: make check test-short\n", name)
	return nil
}

// taken are names that every application uses for something else. [collision] finds those of the tree.
var taken = []string{"message", "member", "query", "subscription", "error", "string", "tenant", "event", "command", "name", "role", "text", "id",
	"connection", "edge", "cursors", "resolver", "settings", "executable", "internal"}

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

// filesOf returns the files that the aggregate adds, and then the changed files with lists. It writes nothing.
func filesOf(root, name string, process bool) ([]file, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "domain", name)); err == nil {
		return nil, fmt.Errorf("the name %s is taken: domain/%s exists already, and nothing is overwritten", name, name)
	}
	number, err := nextMigration(filepath.Join(root, "rdb-migration/readmodel/mysql"))
	if err != nil {
		return nil, err
	}
	folders, registries := []string{"template"}, lists
	if process {
		folders, registries = append(folders, "process"), append(slices.Clone(lists), processLists...)
	}
	if err := collision(root, name, folders, registries); err != nil {
		return nil, err
	}
	named := words.Of(name)
	in := func(text string) string { return named.Replace(cut(text, process)) }
	var files []file
	for _, folder := range folders {
		err := eachTemplate(folder, func(path, content string) error {
			files = append(files, file{path: strings.Replace(named.Replace(path), "NUMBER", number, 1), content: in(content), isNew: true})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, list := range registries {
		changed, err := list.with(root, in)
		if err != nil {
			return nil, err
		}
		files = append(files, changed)
	}
	return files, nil
}

// eachTemplate calls use with the path, in the tree, and the content of each template in a folder.
func eachTemplate(folder string, use func(path, content string) error) error {
	return fs.WalkDir(templates, folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := templates.ReadFile(path)
		if err != nil {
			return err
		}
		return use(strings.TrimSuffix(strings.TrimPrefix(path, folder+"/"), ".tmpl"), string(content))
	})
}
