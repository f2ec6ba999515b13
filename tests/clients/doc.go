// Package clients runs clients and checkers that others wrote - of GraphQL, OpenAPI and Prometheus - against the real
// programs. The scripts are JavaScript, because that is what most clients of GraphQL are written in; package.json pins
// what they use.
package clients
