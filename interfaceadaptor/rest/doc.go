// Package rest is the command API: JSON over HTTP becomes an [es.Request], whose answer or error is sent back.
//
// On a command's path it stands between infrastructure/httpserver, which gives every request its id and its log line,
// and the library's services. What clients can ask for is a table with one row for each operation (threads.go). All
// go the same way, serve.go: who asks, headers, body, fields, command, answer. Errors become problems in problem.go.
//
// Bodies are plain structs (decode.go). Their fields' types say how they are read, and their tags describe and limit
// them, in requests as in the OpenAPI document (openapi.go). A field that can't be served fails when the handler is
// made. Decoding refuses unknown and repeated members, null and half surrogate pairs, and finds all faults at once.
// huma makes the schemas, for the document and for validation, but does not serve: it would validate what was sent and
// not what was read.
package rest
