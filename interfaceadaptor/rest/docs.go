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

// docsPolicy lets the docs page load files of this server only. Swagger UI needs inline styles and images.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// routeDocs serves the page that shows /openapi.json, with its script and Swagger UI.
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

// serveFile sends a whole file. [http.ServeFileFS] would also handle conditions and ranges, with errors in plain text.
func serveFile(files fs.ReadFileFS, name string) http.HandlerFunc {
	content := embedded(files, name)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		_, _ = w.Write(content)
	}
}

// servePacked sends a file of Swagger UI. The files are embedded compressed, and most clients accept that.
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
