// Command read-api answers GraphQL queries and subscriptions from the read model.
//
// It is read from here: settings from the environment, the database of the read model, the query side over it
// (cmd/internal/readapi).
package main
