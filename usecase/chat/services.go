package chat

import (
	"context"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// ErrErasureOff: a person can't be erased, because texts are not sealed.
var ErrErasureOff = ident.Conflict("erasure_off", "texts are not sealed here, so that nobody can be erased; ask those who run the service for ERASURE=on")

// Service handles the commands of one aggregate type and stores its snapshots. It may be called concurrently.
type Service[C any] interface {
	Handle(ctx context.Context, request es.Request[C]) (es.Result, error)
	Snapshot(ctx context.Context, caller es.Caller, id string) (uint64, error)
}

// Services handle the commands on threads and accounts. A program may wrap them.
type Services struct {
	Threads  Service[thread.Command]
	Accounts Service[account.Command]
}
