package page

import (
	_ "embed"
	"net/http"

	"example.com/threads/infrastructure/asset"
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

// files returns what the page is made of, by the patterns of [http.ServeMux] that each is to be served at.
func files() map[string]http.Handler {
	return map[string]http.Handler{
		"/{$}":       file(document, "text/html; charset=utf-8"),
		"/app.js":    file(script, "text/javascript; charset=utf-8"),
		"/style.css": file(style, "text/css; charset=utf-8"),
		"/icon.svg":  file(icon, "image/svg+xml"),
	}
}

// file serves a part of the page.
func file(content []byte, contentType string) http.Handler {
	return asset.New(content, asset.Pack(content), contentType, contentSecurityPolicy)
}
