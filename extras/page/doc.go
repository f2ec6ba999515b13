// Package page is what people see - chat, the way of a command, the past of a thread - and its server. On the page's
// origin, the server passes requests on to both APIs below /api/write and /api/read, by [httputil]'s reverse proxy. Its
// only state are the sessions (sessions.go). With access control, the users' tokens stay in the sessions and are added
// to the proxied requests, so no script can read a token.
//
// The page's source is TypeScript on preact in src; app.js is bundled from both by `go generate`, so that neither a
// build nor a browser needs anything from elsewhere. schema.ts has the types of the GraphQL schema.
//
// cmd/web runs it as a program of its own; standalone runs it beside the other servers.
package page

//go:generate go run -C ../../tools/dev ./page
