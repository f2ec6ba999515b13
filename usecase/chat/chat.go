// Package chat is this application on top of the library: what commands are answered, how the events of each aggregate
// change the read model, and process managers.
package chat

import (
	"context"

	"example.com/threads/es"
)

// Service handles the commands of one aggregate type and stores its snapshots. Its errors are those that [es.KindOf]
// knows. It may be called concurrently.
type Service[C any] interface {
	// Handle applies a command and returns when its events are stored.
	Handle(ctx context.Context, request es.Request[C]) (es.Result, error)
	// Snapshot stores a snapshot of the aggregate's latest state and returns its version.
	Snapshot(ctx context.Context, caller es.Caller, id string) (uint64, error)
}
