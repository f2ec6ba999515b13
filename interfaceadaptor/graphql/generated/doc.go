// Package generated is gqlgen's: the schema of ../schema.graphqls as an executable one. `go generate` in the folder
// above writes it; nobody edits it.
package generated
