// Package faulty injects faults: between a program and its event store, and between a journal and a projection. Tests
// and the failure lab use it.
//
// A [Gateway] stands before an event store and decides what becomes of each append: refused, delayed, or done with its
// answer lost. A [Delivery] does to records what sources may do: lose, repeat, reorder and corrupt them. [Unreadable]
// makes an event that no codec reads.
package faulty

import (
	"context"
	"time"

	"example.com/threads/es"
)

// Gateway injects a fault into the appends of an event store.
type Gateway struct {
	es.EventPersistenceGateway
	Fault Fault // nil: none
}

// Fault handles an append; send passes it on to the store.
type Fault func(ctx context.Context, send func(context.Context) error) error

// Append implements [es.EventPersistenceGateway].
func (g *Gateway) Append(ctx context.Context, write es.Append) error {
	send := func(ctx context.Context) error { return g.EventPersistenceGateway.Append(ctx, write) }
	if g.Fault == nil {
		return send(ctx)
	}
	return g.Fault(ctx, send)
}

// Late sends after a delay. If ctx ends first, it does not send.
func Late(delay time.Duration) Fault {
	return func(ctx context.Context, send func(context.Context) error) error {
		if es.Wait(ctx, delay) != nil {
			return es.ErrUnavailable
		}
		return send(ctx)
	}
}

// LoseAnswer sends. The answer of a successful append is lost: the error is [es.ErrUnavailable].
func LoseAnswer(ctx context.Context, send func(context.Context) error) error {
	if err := send(ctx); err != nil {
		return err
	}
	return es.ErrUnavailable
}

// Refuse fails with an error and does not send.
func Refuse(err error) Fault {
	return func(context.Context, func(context.Context) error) error { return err }
}
