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
)

//go:embed template
var templates embed.FS

func main() {
	root := flag.String("root", ".", "folder of the system's go.mod")
	flag.Parse()
	if err := run(context.Background(), *root, flag.Arg(0)); err != nil {
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
		{"go", "generate", "./interfaceadaptor/graphql", "./extras/page"},
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

// filesOf returns the files that the aggregate adds, and the changed files with lists. It writes nothing.
func filesOf(root, name string) ([]file, error) {
	if !usable.MatchString(name) {
		return nil, errors.New("the aggregate's name must be one word of small letters, such as order: make new-aggregate NAME=order")
	}
	if _, err := os.Stat(filepath.Join(root, "domain", name)); err == nil || token.IsKeyword(name) || slices.Contains(taken, name) {
		return nil, fmt.Errorf("the name %s is taken: nothing is overwritten, and %s exists already, in Go or here", name, name)
	}
	words := wordsOf(name)
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
		files = append(files, file{path: strings.Replace(words.Replace(to), "NUMBER", number, 1), content: words.Replace(string(content)), isNew: true})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		changed, err := list.with(root, words)
		if err != nil {
			return nil, err
		}
		files = append(files, changed)
	}
	return files, nil
}

// wordsOf replaces gadget in the templates by the name.
func wordsOf(name string) *strings.Replacer {
	title := strings.ToUpper(name[:1]) + name[1:]
	many := name + "s"
	switch {
	case strings.HasSuffix(name, "y") && !strings.ContainsAny(name[len(name)-2:len(name)-1], "aeiou"):
		many = name[:len(name)-1] + "ies"
	case regexp.MustCompile(`(s|x|z|ch|sh)$`).MatchString(name):
		many = name + "es"
	}
	article := "a"
	if strings.ContainsAny(name[:1], "aeiou") {
		article = "an"
	}
	return strings.NewReplacer(
		"gadgets", many, "Gadgets", strings.ToUpper(many[:1])+many[1:],
		"a gadget", article+" "+name, "A gadget", strings.ToUpper(article[:1])+article[1:]+" "+name,
		"gadget", name, "Gadget", title,
	)
}
