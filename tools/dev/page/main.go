// Command page generates files of the page in extras/page and of the failure lab in extras/lab: TypeScript types of the
// GraphQL schema, and the bundles for browsers. `go generate` calls it in this module's folder.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

const root = "../.."

// bundles are the scripts with their entry points. The lab has its own bundle, so that no other program contains it.
var bundles = map[string]string{
	"extras/page/src/main.tsx": "extras/page/app.js",
	"extras/lab/src/lab.tsx":   "extras/lab/lab.js", // extra:lab
}

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func generate() error {
	types, err := typesOf(filepath.Join(root, "interfaceadaptor/graphql/*.graphqls"), filepath.Join(root, "extras/*/*.graphqls"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "extras/page/src/schema.ts"), []byte(types), 0o644); err != nil {
		return err
	}
	for entry, out := range bundles {
		if err := bundle(entry, out); err != nil {
			return err
		}
	}
	return nil
}

func bundle(entry, out string) error {
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(root, entry)}, Outfile: filepath.Join(root, out), Bundle: true, Write: true, LogLevel: api.LogLevelWarning,
		Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true,
		JSX: api.JSXTransform, JSXFactory: "h", JSXFragment: "Fragment", TsconfigRaw: "{}",
		Banner: map[string]string{"js": "// Code generated from " + filepath.ToSlash(filepath.Dir(entry)) + " by go generate. DO NOT EDIT."},
	})
	if len(result.Errors) > 0 {
		return errors.New("the page can't be bundled; the messages above say why")
	}
	return nil
}
