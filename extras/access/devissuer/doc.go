// Package devissuer is an OpenID Connect issuer for development: it issues tokens without authentication. Therefore
// serve it on the loopback interface only. It rejects requests to other host names, so that no web page can reach it by
// its own name (DNS rebinding).
//
// It creates its key at the start: tokens of earlier runs are invalid.
package devissuer
