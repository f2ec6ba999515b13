// Package graphiql serves GraphiQL, a page for trying queries and subscriptions. Its files are embedded.
//
// The folder assets holds the published builds of GraphiQL and React, compressed; assets/refresh.sh downloads them.
package graphiql

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"github.com/go-chi/chi/v5"

	"example.com/threads/infrastructure/asset"
)

//go:embed assets/*.gz page/*
var files embed.FS

// contentSecurityPolicy lets the page load files of this server. The published build needs data: and inline styles.
const contentSecurityPolicy = "default-src 'self'; font-src 'self' data:; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

// AddTo adds the page to mux: the page itself at /, the rest under /graphiql/.
func AddTo(mux chi.Router) {
	names, _ := fs.Glob(files, "*/*") // fails only for a malformed pattern
	for _, name := range names {
		served := "/graphiql/" + strings.TrimSuffix(path.Base(name), ".gz")
		if name == "page/index.html" {
			served = "/"
		}
		mux.Handle("GET "+served, asset.Load(files, name, contentSecurityPolicy))
	}
}
