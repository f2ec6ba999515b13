// Package web serves the page and, on the same origin, both APIs below /api/write and /api/read, by [httputil]'s
// reverse proxy. Its only state are the sessions (sessions.go). With access control, the users' tokens stay in the
// sessions and are added to the proxied requests, so no script can read a token.
//
// cmd/web runs it as a program of its own; standalone runs it beside the other servers.
package web
