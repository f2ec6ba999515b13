// Package generated makes the schema executable: ../schema.graphqls with the schema files of the extras. gqlgen writes
// generated.go, and tools/graphqlgen plain.go with the fields that need no resolver: `go generate` in the folder above.
// Only root.go is written by hand: it joins the resolvers.
package generated
