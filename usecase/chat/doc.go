// Package chat is this application on top of the engine: the keys of its aggregates (key.go), how their commands are
// decided and answered (commands.go), and how their events change the read model (rows.go).
package chat
