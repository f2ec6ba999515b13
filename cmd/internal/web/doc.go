// Package web serves the page and, on the same origin, both APIs: below /api/write and /api/read, by [httputil]'s
// reverse proxy. It holds no data but the sessions of who has logged in (session.go): with access on, their tokens stay
// here and are added to the requests that are passed through, so that no script sees one.
//
// cmd/web runs it as a program of its own, standalone beside the other servers.
package web
