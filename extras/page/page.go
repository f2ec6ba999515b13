// Package page is the page that people see: chat, the way of a command, the past of a thread. Its source is TypeScript
// in src; app.js is bundled from it by `go generate`, so that neither a build nor a browser needs anything from
// elsewhere. schema.ts has the types of the GraphQL schema.
package page

//go:generate go run -C ../../tools/dev ./page

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

// Files returns what the page is made of, by the patterns of [http.ServeMux] that each is to be served at.
func Files() map[string]http.Handler {
	return map[string]http.Handler{
		"/{$}":       File(document, "text/html; charset=utf-8"),
		"/app.js":    File(script, "text/javascript; charset=utf-8"),
		"/style.css": File(style, "text/css; charset=utf-8"),
		"/icon.svg":  File(icon, "image/svg+xml"),
	}
}

// File serves a part of the page.
func File(content []byte, contentType string) http.Handler {
	return asset.New(content, asset.Pack(content), contentType, contentSecurityPolicy)
}
