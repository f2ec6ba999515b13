// Package clients runs third-party clients and checkers of GraphQL, OpenAPI and Prometheus against the real programs.
// The scripts are JavaScript, because most GraphQL clients are; package.json pins their versions.
package clients
