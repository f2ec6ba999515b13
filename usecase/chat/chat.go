// Package chat is this application on top of the library: answers, read model and process managers.
package chat

import (
	"context"

	"example.com/threads/es"
)

// Service handles the commands of one aggregate type; [es.KindOf] knows its errors. It may be called concurrently.
type Service[C any] interface {
	// Handle applies a command and returns when its events are stored.
	Handle(ctx context.Context, request es.Request[C]) (es.Result, error)
	// Snapshot stores a snapshot of the aggregate's latest state and returns its version.
	Snapshot(ctx context.Context, caller es.Caller, id string) (uint64, error)
}
