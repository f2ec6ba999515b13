// Package docs serves the page that shows the OpenAPI document, by Swagger UI. Its files are embedded.
package docs

import (
	"embed"
	"io/fs"

	"github.com/go-chi/chi/v5"
	"github.com/swaggest/swgui/v5/static"

	"example.com/threads/infrastructure/asset"
)

//go:embed page
var page embed.FS

// contentSecurityPolicy lets the page load files of this server only. Swagger UI needs inline styles and images.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func AddTo(mux chi.Router) {
	for path, file := range map[string]struct {
		in   fs.FS
		name string
	}{
		"/docs":                      {page, "page/docs.html"},
		"/docs/docs.js":              {page, "page/docs.js"},
		"/docs/favicon-32x32.png":    {static.FS, "favicon-32x32.png"},
		"/docs/swagger-ui.css":       {static.FS, "swagger-ui.css.gz"},
		"/docs/swagger-ui-bundle.js": {static.FS, "swagger-ui-bundle.js.gz"},
	} {
		mux.Handle("GET "+path, asset.Load(file.in, file.name, contentSecurityPolicy))
	}
}
