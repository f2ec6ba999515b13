// Command page generates files of the page in extras/page: TypeScript types of what it asks, and the bundles of scripts
// and styles for browsers. `go generate` calls it in this module's folder.
// It also bundles the failure lab in extras/lab. // extra:lab
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"

	"example.com/threads/tools/dev/internal/npm"
)

const (
	root   = "../.."
	source = "extras/page/src"
)

// bundles are the scripts with their entry points.
// The lab has its own bundles, so that no other program contains it. // extra:lab
var bundles = map[string]string{
	source + "/main.tsx":             "extras/page/app.js",
	source + "/check.ts":             "extras/page/check.js",
	"extras/lab/src/lab.tsx":         "extras/lab/lab.js",         // extra:lab {
	"extras/lab/src/experiments.tsx": "extras/lab/experiments.js", // extra:lab }
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := generate(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func generate(ctx context.Context) error {
	if err := generateTypes(ctx); err != nil {
		return err
	}
	// The bundles are in the repository: who does not change the page need not be able to make them.
	err := npm.Install(ctx, filepath.Join(root, source))
	if _, missing := os.Stat(filepath.Join(root, bundles[source+"/main.tsx"])); errors.Is(err, npm.ErrMissing) && missing == nil {
		fmt.Fprintln(os.Stderr, "page: the scripts of the page are left as they are; to bundle them:", err)
		return nil
	}
	for entry, out := range bundles {
		if err == nil {
			err = bundle(entry, out)
		}
	}
	return err
}

// digestOf returns the digest of a bundle's sources. The bundle names it, so that an old one is found.
func digestOf(entry string) (string, error) {
	hash := sha256.New()
	err := filepath.WalkDir(filepath.Join(root, filepath.Dir(entry)), func(path string, file fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case file.IsDir() && file.Name() == "node_modules":
			return fs.SkipDir
		case file.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(hash, "%s %d\n%s", filepath.ToSlash(path), len(content), content)
		return err
	})
	return hex.EncodeToString(hash.Sum(nil)[:6]), err
}

// generateTypes writes the types of what the page asks, from the OpenAPI document and the GraphQL schema, and the
// shapes by which check.ts recognises them.
func generateTypes(ctx context.Context) error {
	known := catalog{map[string]*shape{}, map[string]*shape{}}
	doc, err := readDocument(ctx)
	if err != nil {
		return err
	}
	requests, err := doc.requests(known)
	if err != nil {
		return err
	}
	schema, err := loadSchema(filepath.Join(root, "interfaceadaptor/graphql/*.graphqls"), filepath.Join(root, "extras/*/*.graphqls"))
	if err != nil {
		return fmt.Errorf("the GraphQL schema: %w", err)
	}
	read, err := readQueries(filepath.Join(root, source))
	if err != nil {
		return err
	}
	queries, err := read.typescript(schema, known)
	if err != nil {
		return err
	}
	answers, err := known.typescript()
	if err != nil {
		return err
	}
	for _, file := range []struct{ name, from, text string }{
		{"requests.ts", "the OpenAPI document", requests}, {"queries.ts", "the queries in comments and the GraphQL schema", queries},
		{"answers.ts", "the OpenAPI document, the queries in comments and the GraphQL schema", answers},
	} {
		text := "// Code generated from " + file.from + " by go generate. DO NOT EDIT.\n" + file.text
		if err := os.WriteFile(filepath.Join(root, source, file.name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fromThePage are the packages that the lab's script gets from the page's script. // extra:lab {
var fromThePage = map[string]string{"preact/jsx-runtime": "/app.js", "@preact/signals": "/app.js"}

// extra:lab }

func bundle(entry, out string) error {
	digest, err := digestOf(entry)
	if err != nil {
		return err
	}
	options := api.BuildOptions{
		EntryPoints: []string{filepath.Join(root, entry)}, Outfile: filepath.Join(root, out), Bundle: true, Write: true, LogLevel: api.LogLevelWarning,
		Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsInline,
		MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", TsconfigRaw: "{}",
	}
	generated := "Code generated from " + filepath.ToSlash(filepath.Dir(entry)) + " by go generate. DO NOT EDIT."
	options.Banner = map[string]string{"js": "// " + generated + " Sources: " + digest, "css": "/* " + generated + " */"}
	if filepath.Dir(entry) != source { // extra:lab {
		options.Alias, options.External = fromThePage, []string{"/app.js", "/lab/lab.js"}
	} // extra:lab }
	if result := api.Build(options); len(result.Errors) > 0 {
		return errors.New("the page can't be bundled; the messages above say why")
	}
	return nil
}
