// Package graphiql serves GraphiQL, a page for trying queries and subscriptions. All files of the page are embedded. It
// loads nothing from elsewhere, which its Content-Security-Policy enforces.
//
// The folder assets holds the published builds of GraphiQL and React with their licences, compressed; assets/refresh.sh
// downloads them again. The files in the folder page are our own.
package graphiql

import (
	"embed"
	"fmt"
	"net/http"
	"path"
	"strings"

	"example.com/threads/infrastructure/asset"
)

//go:embed assets/*.gz page/*
var files embed.FS

// contentSecurityPolicy lets the page load only files of this server. The published build also needs data: URLs for the
// fonts and images in its style sheet, and inline styles for its dialogs.
const contentSecurityPolicy = "default-src 'self'; font-src 'self' data:; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

// Files returns the page's files by their patterns: the page itself at /, the rest under
// /graphiql/. It fails only if the embedded files are broken.
func Files() (map[string]http.Handler, error) {
	served := map[string]http.Handler{}
	for _, folder := range []string{"assets", "page"} {
		entries, err := files.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("read GraphiQL's files: %w", err)
		}
		for _, entry := range entries {
			served[pattern(entry.Name())] = asset.Load(files, path.Join(folder, entry.Name()), contentSecurityPolicy)
		}
	}
	return served, nil
}

func pattern(name string) string {
	if name == "index.html" {
		return "/"
	}
	return "/graphiql/" + strings.TrimSuffix(name, ".gz")
}
