// Package graphiql serves GraphiQL, a page for trying queries and subscriptions. All files of the page are embedded. It
// loads nothing from elsewhere, which its Content-Security-Policy enforces.
//
// The folder assets holds the published builds of GraphiQL and React with their licences, compressed; assets/refresh.sh
// downloads them again. The files in the folder page are our own.
package graphiql

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
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

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
}

// Files returns the page's files by their patterns for [http.ServeMux]: the page itself at /, the rest under
// /graphiql/. It fails only if the embedded files are broken.
func Files() (map[string]http.Handler, error) {
	served := map[string]http.Handler{}
	for _, folder := range []string{"assets", "page"} {
		entries, err := files.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("read GraphiQL's files: %w", err)
		}
		for _, entry := range entries {
			f, err := load(path.Join(folder, entry.Name()))
			if err != nil {
				return nil, fmt.Errorf("read GraphiQL's %s: %w", entry.Name(), err)
			}
			served[pattern(entry.Name())] = f
		}
	}
	return served, nil
}

func pattern(name string) string {
	if name == "index.html" {
		return "/{$}"
	}
	return "/graphiql/" + strings.TrimSuffix(name, ".gz")
}

func load(name string) (asset.File, error) {
	content, err := files.ReadFile(name)
	if err != nil {
		return asset.File{}, err
	}
	plainName, packed := strings.CutSuffix(name, ".gz")
	contentType := contentTypes[path.Ext(plainName)]
	if !packed {
		return asset.New(content, nil, contentType, contentSecurityPolicy), nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return asset.File{}, err
	}
	plain, err := io.ReadAll(reader)
	return asset.New(plain, content, contentType, contentSecurityPolicy), err
}
