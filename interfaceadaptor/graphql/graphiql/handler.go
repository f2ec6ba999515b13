package graphiql

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
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

// file is a file of the page.
type file struct {
	contentType  string
	tag          string
	plain, small []byte // uncompressed, and by gzip
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

func load(name string) (file, error) {
	content, err := files.ReadFile(name)
	if err != nil {
		return file{}, err
	}
	f := file{plain: content, contentType: contentTypes[path.Ext(strings.TrimSuffix(name, ".gz"))]}
	if strings.HasSuffix(name, ".gz") {
		reader, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return file{}, err
		}
		f.small = content
		if f.plain, err = io.ReadAll(reader); err != nil {
			return file{}, err
		}
	}
	sum := sha256.Sum256(f.plain)
	f.tag = hex.EncodeToString(sum[:8])
	return f, nil
}

// ServeHTTP implements [http.Handler], for GET and HEAD.
func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-cache") // browsers revalidate and get 304
	header.Set("Vary", "Accept-Encoding")

	content, tag := f.plain, f.tag
	if f.small != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		content, tag = f.small, f.tag+"-gzip"
	}
	header.Set("ETag", `"`+tag+`"`)
	if r.Header.Get("If-None-Match") == `"`+tag+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Length", fmt.Sprint(len(content)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(content)
	}
}
