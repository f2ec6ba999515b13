// Package model holds the Go types of the schema's types. The resolvers of package graphql fill them from
// usecase/query, and package generated writes them as JSON.
package model
