// Package chat is what this application does with the engine: it names its aggregates as keys, and says how their commands are
// decided and answered. The engine knows keys and no threads.
package chat
