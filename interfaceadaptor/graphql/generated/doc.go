// Package generated is gqlgen's: the schema of ../schema.graphqls as an executable one (generated.go), and the
// fields that need no resolver (plain.go, by tools/graphqlgen). `go generate` in the folder above writes it;
// nobody edits it.
package generated
