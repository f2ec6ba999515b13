// Package chat names the aggregates of this application to the engine, which knows keys and no threads.
package chat
