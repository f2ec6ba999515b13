// Package chat is the application on top of the engine: the keys of its aggregates (key.go) and what events do to the
// rows of the read model (rows.go).
package chat
