// Package page is the page that people see: chat, the way of a command, the past of a thread. Its source is TypeScript
// in src; app.js is bundled from it by `go generate`, so that neither a build nor a browser needs anything from
// elsewhere. schema.ts has the types of the GraphQL schema.
package page

//go:generate go run -C ../../../tools/dev ./page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

var (
	//go:embed index.html
	document []byte
	//go:embed app.js
	script []byte
	//go:embed style.css
	style []byte
	//go:embed icon.svg
	icon []byte
)

// contentSecurityPolicy lets the page run its own script and talk to its own origin, and nothing else. Scripts can't
// make markup from text (Trusted Types).
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Files returns what the page is made of, by the patterns of [http.ServeMux] that each is to be served at.
func Files() map[string]http.Handler {
	return map[string]http.Handler{
		"/{$}":       File(document, "text/html; charset=utf-8"),
		"/app.js":    File(script, "text/javascript; charset=utf-8"),
		"/style.css": File(style, "text/css; charset=utf-8"),
		"/icon.svg":  File(icon, "image/svg+xml"),
	}
}

// file is what is served under one path.
type file struct {
	contentType, tag string
	plain, small     []byte // as it is, and by gzip
}

// File serves a part of the page.
func File(content []byte, contentType string) http.Handler {
	var small bytes.Buffer
	packing, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // a good level
	_, _ = packing.Write(content)                                   // into memory, which takes it
	_ = packing.Close()
	sum := sha256.Sum256(content)
	return file{contentType, hex.EncodeToString(sum[:8]), content, small.Bytes()}
}

// ServeHTTP implements [http.Handler], for GET and HEAD.
func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("Cache-Control", "no-cache") // ask, and take 304 for an answer
	header.Set("Vary", "Accept-Encoding")
	content, tag := f.plain, `"`+f.tag+`"`
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		content, tag = f.small, `"`+f.tag+`-gzip"`
	}
	header.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(content) // fails only when the client has gone
	}
}
