package rest

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/swaggest/swgui/v5/static"
)

//go:embed page
var pageFiles embed.FS

// docsPolicy lets the docs page load what this program serves, and nothing from elsewhere. Inline styles and images are
// what Swagger UI sets itself.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// routeDocs serves the page that shows /openapi.json, and what it loads: our own script and Swagger UI.
func routeDocs(router chi.Router) {
	page := serveFile(pageFiles, "page/docs.html")
	router.Get("/docs", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", docsPolicy)
		page(w, r)
	})
	router.Get("/docs/docs.js", serveFile(pageFiles, "page/docs.js"))
	router.Get("/docs/favicon-32x32.png", serveFile(static.FS, "favicon-32x32.png"))
	for _, name := range []string{"swagger-ui.css", "swagger-ui-bundle.js"} {
		router.Get("/docs/"+name, servePacked(name))
	}
}

// serveFile answers with a whole file: [http.ServeFileFS] also answers to conditions and ranges, and then in plain
// text.
func serveFile(files fs.ReadFileFS, name string) http.HandlerFunc {
	content := embedded(files, name)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		_, _ = w.Write(content)
	}
}

// servePacked answers with a file of Swagger UI. They are embedded compressed, and most clients take them so.
func servePacked(name string) http.HandlerFunc {
	packed := embedded(static.FS, name+".gz")
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed)
			return
		}
		if unpacked, err := gzip.NewReader(bytes.NewReader(packed)); err == nil {
			_, _ = io.Copy(w, unpacked)
		}
	}
}

func embedded(files fs.ReadFileFS, name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		// it is embedded, so this is the same in every run
		panic(fmt.Sprintf("rest: a file of the docs page is missing: %v", err))
	}
	return content
}
