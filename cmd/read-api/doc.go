// Command read-api answers GraphQL queries and subscriptions from the read model.
//
// Read it in this order: settings from the environment, the read model's database, the query side
// (cmd/internal/readapi).
package main
