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

// parts are the folders and files of extras outside their own, and those that only go with another one. The longest
// match for a file counts.
var parts = map[string]string{
	"cmd/dev-issuer":         "access",
	"cmd/threadctl":          "operate",
	"cmd/web":                "page",
	"docs/asyncapi.yaml":     "publishing",
	"docs/docs.go":           "lab", // and what it embeds
	"docs/guarantees.md":     "lab",
	"docs/operations.md":     "operate",
	"tools/dev/browser":      "page",
	"tools/dev/internal/npm": "page",
	"tools/dev/page":         "page",
	"tools/openapi":          "page",

	"extras/operate/ctl/archive.go": "operate,archive",

	// what is of the page, and only of chat's: a new application bundles its own
	"extras/page/app.css":                     "page,chat",
	"extras/page/app.js":                      "page,chat",
	"extras/page/check.js":                    "page,chat",
	"extras/page/src/chat":                    "page,chat",
	"tools/dev/scaffold/template/extras/page": "page",

	// what tells of, measures or changes everything
	".ci":                         "whole",
	".github":                     "whole",
	"docs":                        "whole",
	"deploy":                      "whole",
	"SECURITY.md":                 "whole",
	"tests/clients":               "whole",
	"tests/e2e":                   "whole",
	"tests/fuzz":                  "whole",
	"tests/limits":                "whole",
	"tools/bench":                 "whole",
	"tools/dev/compose-check":     "whole",
	"tools/dev/core":              "whole",
	"tools/dev/internal/treecopy": "whole",
	"tools/dev/kubernetes":        "whole",
	"tools/dev/promtool.sh":       "whole",
	"tools/dev/scale":             "whole",
	"tools/dev/tutorial":          "whole",

	// this application, whose tests of programs and adapters are its own, but for these
	"cmd/read-api/graphiql":                                              core,
	"cmd/standalone/main_test.go":                                        core,
	"cmd/standalone/running_test.go":                                     core,
	"interfaceadaptor/admission":                                         core,
	"interfaceadaptor/graphql/handler_test.go":                           core,
	"interfaceadaptor/graphql/rows_test.go":                              core,
	"interfaceadaptor/rest/decode_test.go":                               core,
	"interfaceadaptor/rest/taker_test.go":                                core,
	"domain/account":                                                     chat,
	"domain/thread":                                                      chat,
	"interfaceadaptor/eventjson/accounts.go":                             chat,
	"interfaceadaptor/eventjson/testdata":                                chat,
	"interfaceadaptor/eventjson/testdata/account/AccountErased.json":     "erasure," + chat,
	"interfaceadaptor/eventjson/testdata/account/snapshot-1-erased.json": "erasure," + chat,
	"interfaceadaptor/eventjson/threads.go":                              chat,
	"interfaceadaptor/graphql/accounts.go":                               chat,
	"interfaceadaptor/graphql/threads.go":                                chat,
	"interfaceadaptor/readmodel/chatrows/leaveonclose.go":                chat,
	"interfaceadaptor/readmodel/chatrows/threads.go":                     chat,
	"interfaceadaptor/readmodel/chatrows/testdata":                       chat,
	"interfaceadaptor/readmodel/chatrows/testdata/AccountErased-2.json":  "erasure," + chat,
	"interfaceadaptor/readmodel/queryreader/threads.go":                  chat,
	"interfaceadaptor/rest/accounts.go":                                  chat,
	"interfaceadaptor/rest/threads.go":                                   chat,
	"rdb-migration/readmodel":                                            chat,
	"tools/dev/devservices/up_test.go":                                   chat,
	"tests/readmodeltest/world.go":                                       chat,
	"tests/architecture/engine.go":                                       chat,
	"tests/architecture/prose.go":                                        chat, // other names make other lines
	"tests/architecture/prose_test.go":                                   chat,
	"tests/architecture/engine_test.go":                                  chat,
	"usecase/chat/accounts.go":                                           chat,
	"usecase/chat/leaveonclose.go":                                       chat,
	"usecase/chat/threads.go":                                            chat,
	"usecase/query/accounts.go":                                          chat,
	"usecase/query/threads.go":                                           chat,
}

// needs are the extras that another one only works with, beside those that it imports.
var needs = map[string][]string{"page": {"operate", "websocket"}}

// core is what no extra has.
const core = ""

// chat marks what only an application about chat has. A copy has it, a new application doesn't.
const chat = "chat"

// readme is the copy's README.md.
const readme = "tools/dev/core/README.md"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root := flag.String("root", ".", "folder of the project")
	to := flag.String("dir", "", "folder for the copy; it must be empty, or not exist")
	var another newApp
	isNew := flag.Bool("new", false, "make a new application, without chat")
	flag.StringVar(&another.module, "module", "", "its Go module")
	flag.StringVar(&another.aggregate, "aggregate", "", "its aggregate")
	flag.Parse()
	if *to != "" && !filepath.IsAbs(*to) { // it is given as seen from the project
		*to = filepath.Join(*root, *to)
		if absolute, err := filepath.Abs(*to); err == nil {
			*to = absolute
		}
	}
	var err error
	if *isNew {
		err = another.run(ctx, *root, *to, flag.Args())
	} else {
		err = run(ctx, *root, *to, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "core:", err)
		os.Exit(1)
	}
}

// run copies the core with the named extras.
func run(ctx context.Context, root, to string, extras []string) error {
	if to == "" {
		return errors.New(`DIR is missing; for example: make core DIR=../core EXTRAS="access limits"`)
	}
	if err := known(root, extras, nil); err != nil {
		return err
	}
	kept, err := withNeeded(root, extras)
	if err != nil {
		return err
	}
	if err := copyTree(ctx, root, to, append(kept, chat)); err != nil {
		return err
	}
	if err := removeUnused(to); err != nil {
		return err
	}
	fmt.Printf("Copied to %s with the extras: %s. Generating code ...\n", to, cmp.Or(strings.Join(kept, ", "), "none"))
	if err := do(ctx, to, "git init -q .", "go generate ./...", "go mod tidy", "go -C tools/dev mod tidy", "git add -A"); err != nil {
		return err
	}
	fmt.Printf("Done. Go on with: cd %s && make run\n", to)
	return nil
}

// known returns an error unless there are these extras, and none of them is about chat where aboutChat are left out.
func known(root string, extras, aboutChat []string) error {
	folders, err := os.ReadDir(filepath.Join(root, "extras"))
	if err != nil {
		return err
	}
	var there []string
	for _, folder := range folders {
		if !slices.Contains(aboutChat, folder.Name()) {
			there = append(there, folder.Name())
		}
	}
	for _, name := range extras {
		switch {
		case slices.Contains(aboutChat, name):
			return fmt.Errorf("the extra %q is about chat; a new application can have: %s", name, strings.Join(there, " "))
		case !slices.Contains(there, name):
			return fmt.Errorf("there is no extra %q; EXTRAS takes names with spaces between them, out of: %s", name, strings.Join(there, " "))
		}
	}
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
		if err != nil {
			return nil, err
		}
		kept, extras = append(kept, name), slices.Concat(extras, needed, needs[name])
	}
	slices.Sort(kept)
	return kept, nil
}

var importOfExtra = regexp.MustCompile(`"example\.com/threads/extras/([a-z]+)[/"].*`)

// imported returns the extras that an extra imports.
func imported(folder string) (extras []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		code, err := os.ReadFile(path)
		for _, found := range importOfExtra.FindAllSubmatch(code, -1) {
			if mark.Match(found[0]) {
				continue // it goes with that extra
			}
			extras = append(extras, string(found[1]))
		}
		return err
	})
	return extras, err
}

// copyTree copies the files that git would add, as far as they belong to what is kept, to an empty folder.
func copyTree(ctx context.Context, root, to string, kept []string) error {
	if found, err := os.ReadDir(to); err == nil && len(found) > 0 {
		return fmt.Errorf("%s is not empty: name another folder, or empty it", to)
	}
	list := exec.CommandContext(ctx, "git", "ls-files", "--cached", "--others", "--exclude-standard")
	list.Dir, list.Stderr = root, os.Stderr
	paths, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the project's files: %w", err)
	}
	for path := range strings.SplitSeq(strings.TrimSpace(string(paths)), "\n") {
		if owner := ownerOf(path); owner != core && !hasAll(kept, owner) {
			continue
		}
		err := copyFile(root, to, path, kept)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted, and not committed yet
			return errors.Join(fmt.Errorf("copy %s: %w", path, err), os.RemoveAll(to))
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

var testOfTheApplication = regexp.MustCompile(`^(cmd|interfaceadaptor|usecase)/.*_test\.go$`)

// ownerOf returns the extra that a file belongs to, or the extras with commas between them; core: or it has marks.
func ownerOf(path string) string {
	owner, longest := core, ""
	if rest, is := strings.CutPrefix(path, "extras/"); is {
		owner, _, _ = strings.Cut(rest, "/")
	} else if testOfTheApplication.MatchString(path) {
		owner = chat
	}
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

// do runs commands, whose words have no spaces in them, one after the other.
func do(ctx context.Context, folder string, commands ...string) error {
	for _, command := range commands {
		words := strings.Fields(command)
		started := exec.CommandContext(ctx, words[0], words[1:]...)
		started.Dir = folder
		if output, err := started.CombinedOutput(); err != nil {
			return fmt.Errorf("%s in %s: %w\n%s", command, folder, err, output)
		}
	}
	return nil
}
