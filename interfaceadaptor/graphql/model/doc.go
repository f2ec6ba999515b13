// Package model is what the schema's types are in Go. The resolvers of package graphql fill them from usecase/query,
// and package generated writes them as JSON.
package model
