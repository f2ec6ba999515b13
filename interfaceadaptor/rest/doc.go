// Package rest is where commands come in: JSON over HTTP to a [command.Request], and the answer or the error back.
//
// On a command's path it stands between infrastructure/httpserver, which gives every request its id and its log line,
// and usecase/command, whose services it knows as ports such as [Threads]. operations.go is the table of what clients
// can ask for, one row each; serve.go is the one way that all of them go: who asks (admit.go), headers, body, fields,
// command, answer. Errors become problem documents in problem.go, from one table.
//
// The OpenAPI document is made from the same table and the same Go types (openapi.go). Bodies are read by decode.go and
// not by a library: it is stricter than encoding/json - unknown and repeated members, half surrogate pairs - and finds
// all invalid fields at once.
package rest
