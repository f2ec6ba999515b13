// Package rest is the command API: it converts JSON over HTTP into a [command.Request] and sends the answer or the
// error back.
//
// On a command's path it stands between infrastructure/httpserver, which gives every request its id and its log line,
// and es/command, whose services it knows as ports such as [Threads]. What clients can ask for is a table with one
// row for each operation: threads.go has those on threads, with their bodies. All of them go the same way, serve.go:
// who asks (admit.go), headers, body, fields, command, answer. Errors become problem documents in problem.go, from one
// table.
//
// The OpenAPI document is made from the same table and the same Go types (openapi.go). Bodies are read by decode.go and
// not by a library: it is stricter than encoding/json - unknown and repeated members, half surrogate pairs - and finds
// all invalid fields at once.
package rest
