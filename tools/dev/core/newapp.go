package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/threads/tools/dev/internal/words"
)

// newApp is an application of its own: the core with other aggregates than those of chat, and under another name.
type newApp struct{ module, aggregate string }

const newAppExample = `for example: make new-app DIR=../shop MODULE=example.org/shop AGGREGATE=order EXTRAS="access operate page"`

// inOtherWords has the files that a new application has in other words, about a gadget.
const inOtherWords = "tools/dev/core/newapp"

// aboutChat are the extras that know threads, messages or accounts.
var aboutChat = []string{"erasure", "history", "lab", "tasks"}

var (
	usableModule = regexp.MustCompile(`^[a-z0-9.-]+\.[a-z]+(/[a-zA-Z0-9._~-]+)+$`)
	usableName   = regexp.MustCompile(`^[a-z][a-z0-9]{1,30}$`)
)

func (n newApp) run(ctx context.Context, root, to string, extras []string) error {
	switch {
	case to == "":
		return errors.New("DIR is missing; " + newAppExample)
	case !usableModule.MatchString(n.module) || !usableName.MatchString(n.name()):
		return fmt.Errorf("MODULE is %q; it must be a path such as example.org/shop, whose last part names the application; %s", n.module, newAppExample)
	case !usableName.MatchString(n.aggregate):
		return fmt.Errorf("AGGREGATE is %q; it must be one word of small letters; %s", n.aggregate, newAppExample)
	case strings.Contains(n.aggregate, "thread"), strings.Contains(n.aggregate, "chat"):
		return fmt.Errorf("AGGREGATE is %q, but a new application has other words in the place of chat and threads: name something else", n.aggregate)
	case n.aggregate == n.name():
		return fmt.Errorf("the application and its aggregate are both called %s: give one of them another name", n.aggregate)
	}
	if err := known(root, extras, aboutChat); err != nil {
		return err
	}
	if err := n.checkName(root); err != nil {
		return fmt.Errorf("MODULE is %q: %w", n.module, err)
	}
	if err := n.checkAggregate(ctx, root); err != nil {
		return fmt.Errorf("AGGREGATE is %q: %w", n.aggregate, err)
	}
	kept, err := withNeeded(root, extras)
	if err != nil {
		return err
	}
	if err := copyTree(ctx, root, to, kept); err != nil {
		return err
	}
	if to, err = filepath.Abs(to); err != nil {
		return err
	}
	fmt.Printf("Copied the core to %s with these extras and what they need: %s. Writing the aggregate, generating code ...\n", to, cmp.Or(strings.Join(kept, ", "), "none"))
	if err := n.overwrite(root, to, kept); err != nil {
		return err
	}
	if err := do(ctx, filepath.Join(to, "tools/dev"), "go run ./scaffold -root ../.. "+n.aggregate); err != nil {
		return err
	}
	if err := removeUnused(to); err != nil {
		return err
	}
	if err := n.rename(to); err != nil {
		return err
	}
	err = do(ctx, to, "gofmt -w .", "go generate ./...", "go mod tidy", "go -C tools/dev mod tidy", "git init -q -b main .", "git add -A")
	if err != nil {
		return err
	}
	fmt.Printf("Done. Go on with: cd %s && make run\n", to)
	return nil
}

// checkName returns an error if the application's name, which becomes that of package chat, means something else where
// that package is used.
func (n newApp) checkName(root string) error {
	taken := fmt.Errorf("the name %s is taken: Go or the application uses it for something else", n.name())
	if _, err := os.Stat(filepath.Join(root, "usecase", n.name())); err == nil || token.IsKeyword(n.name()) {
		return taken
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			if entry != nil && entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(content, []byte(`/usecase/chat"`)) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if used, is := node.(*ast.Ident); is && used.Name == n.name() {
				err = taken
			}
			return true
		})
		return err
	})
}

// checkAggregate returns an error if the name is taken, so that nothing is copied.
func (n newApp) checkAggregate(ctx context.Context, root string) error {
	folder := "domain/" + n.aggregate
	if _, err := os.Stat(filepath.Join(root, folder)); err == nil && ownerOf(folder) == core {
		return fmt.Errorf("%s exists already", folder)
	}
	return do(ctx, filepath.Join(root, "tools/dev"), "go run ./scaffold -check "+n.aggregate)
}

// overwrite copies the files in other words.
func (n newApp) overwrite(root, to string, kept []string) error {
	from, aggregate := filepath.Join(root, inOtherWords), words.Of(n.aggregate)
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rest, any, err := cut(string(content), kept)
		if err != nil || !any {
			return err
		}
		path = filepath.Join(to, strings.TrimSuffix(strings.TrimPrefix(path, from), ".tmpl"))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(aggregate.Replace(rest)), 0o644)
	})
}

// name is the application's name: a word of small letters and digits.
func (n newApp) name() string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "", "~", "").Replace(path.Base(n.module)))
}

// rename puts the application's words in the place of chat's, in all files and their names.
func (n newApp) rename(folder string) error {
	title := func(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
	named := strings.NewReplacer(
		"example.com/threads", n.module, "/accounts/rename", words.Of(n.aggregate).Replace("/gadgets/rename"), "chat threads", words.Of(n.aggregate).Replace("gadgets"),
		"chatrows", n.name()+"rows", "usecase/chat", "usecase/"+n.name(), "ackage chat", "ackage "+n.name(), "chat.", n.name()+".",
		" leave-on-close", "", "threads.go", words.Of(n.aggregate).Replace("gadgets.go"), "threadctl", n.name()+"ctl", "Threads", title(n.name()), "threads", n.name(),
		"a thread", words.Of(n.aggregate).Replace("a gadget"), "Thread", title(n.aggregate), "thread", n.aggregate,
	)
	module := strings.NewReplacer("example.com/threads", n.module)
	var renamed []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if named.Replace(entry.Name()) != entry.Name() || entry.Name() == "chat" {
			renamed = append(renamed, path)
		}
		if entry.IsDir() {
			if entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || !utf8.Valid(content) || entry.Name() == "LICENSE" { // its notice must stay as it is
			return err
		}
		words := named
		if within, _ := filepath.Rel(folder, path); strings.HasPrefix(within, "es"+string(filepath.Separator)) {
			words = module // the library keeps its words
		}
		return os.WriteFile(path, []byte(words.Replace(string(content))), info.Mode().Perm())
	})
	for _, from := range slices.Backward(renamed) { // what is in a folder before the folder
		if err == nil {
			name := filepath.Base(from)
			if name = named.Replace(name); name == "chat" {
				name = n.name()
			}
			err = os.Rename(from, filepath.Join(filepath.Dir(from), name))
		}
	}
	return err
}
