// Package rest is the command API: it converts JSON over HTTP into an [es.Request] and sends the answer or the
// error back.
//
// On a command's path it stands between infrastructure/httpserver, which gives every request its id and its log line,
// and es/command, whose services it knows as ports such as [Threads]. What clients can ask for is a table with one
// row for each operation: threads.go has those on threads, with their bodies. All of them go the same way, serve.go:
// who asks (admit.go), headers, body, fields, command, answer. Errors become problem documents in problem.go, from one
// table.
//
// Bodies are plain structs. Their fields' types say how they are read (fields.go), and their tags describe and limit
// them, in requests (decode.go) as in the OpenAPI document (openapi.go). A field that can't be served fails when the
// handler is made. Decoding is stricter than encoding/json - unknown and repeated members, null, half surrogate pairs -
// and finds all invalid fields at once.
package rest
