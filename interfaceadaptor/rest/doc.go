// Package rest is the command API: it converts JSON over HTTP into an [es.Request] and sends the answer or the
// error back.
//
// On a command's path it stands between infrastructure/httpserver, which gives every request its id and its log line,
// and the library's services. What clients can ask for is a table with one row for each operation: threads.go has those
// on threads, with their bodies. All of them go the same way, serve.go: who asks, headers, body, fields, command,
// answer. Errors become problem documents in problem.go.
//
// Bodies are plain structs (decode.go). Their fields' types say how they are read, and their tags describe and limit
// them, in requests as in the OpenAPI document (openapi.go). A field that can't be served fails when the handler is
// made. Decoding is stricter than encoding/json - unknown and repeated members, null, half surrogate pairs - and finds
// all invalid fields at once.
package rest
