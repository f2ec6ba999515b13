package publishing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Handler is the [projection.Handler] of an aggregate type.
type Handler struct{ es.AnyAggregate }

// DecodeEvent returns an [Event] in today's form, whenever it was written, without the address of the client.
func (h Handler) DecodeEvent(payload []byte) (projection.Event, error) {
	recorded, err := h.AnyAggregate.DecodeEvent(payload)
	published := Event{Envelope: recorded.Envelope}
	if err == nil {
		recorded.ClientIP = ""
		published.Type, published.Data, err = h.EncodeEvent(recorded)
	}
	return projection.Event{Envelope: published.Envelope, Event: published}, err
}

// Load implements [projection.Handler]. An event needs no rows.
func (h Handler) Load(_ context.Context, tx projection.Tx, _ []projection.Event) (projection.Fold, error) {
	return fold{tx.(*transaction)}, nil // of Publisher.Change
}

// fold puts the events of a change into the queues of their aggregates.
type fold struct{ *transaction }

func (f fold) Apply(event projection.Event) error {
	key := event.Aggregate()
	if f.queues[key] == nil {
		f.queues[key] = &queue{}
	}
	f.queues[key].events = append(f.queues[key].events, event.Event.(Event)) // of Decode
	return nil
}

// Save implements [projection.Fold]. The events are published when the positions are saved.
func (fold) Save(context.Context, projection.Tx) error { return nil }

// transaction is the transaction for the projector: it locks the positions until the changes are saved.
type transaction struct {
	projection.Tx
	publisher *Publisher
	found     map[es.AggregateID]projection.Position // as stored
	queues    map[es.AggregateID]*queue
	changes   projection.Changes // with errNotYet: to be stored once the events are published
}

// queue has the events of an aggregate that are to be published.
type queue struct {
	events   []Event
	accepted uint64  // SeqNr of the last one that was accepted
	refused  refusal // of one of them; zero: there is none
}

// Load implements [projection.Tx].
func (t *transaction) Load(ctx context.Context, keys []es.AggregateID) (found map[es.AggregateID]projection.Position, err error) {
	found, err = t.Tx.Load(ctx, keys)
	for _, key := range keys {
		t.found[key] = found[key]
	}
	return found, err
}

// errNotYet ends a transaction with events: they are published without a lock, and the changes stored in the next one.
var errNotYet = errors.New("the events are published first")

// Save implements [projection.Tx].
func (t *transaction) Save(ctx context.Context, changes projection.Changes) error {
	if t.changes = changes; len(t.queues) > 0 {
		return errNotYet
	}
	return t.Tx.Save(ctx, changes)
}

// store stores changes, unless another process has changed the positions since they were read.
func (t *transaction) store(ctx context.Context, changes projection.Changes) error {
	return t.publisher.Store.Change(ctx, func(ctx context.Context, tx projection.Tx) error {
		now, err := tx.Load(ctx, slices.Collect(maps.Keys(t.found)))
		if err != nil {
			return err
		}
		for key, found := range t.found {
			if now := now[key]; now.Version != found.Version || (now.Parked == nil) != (found.Parked == nil) {
				return fmt.Errorf("%w: another process has published events of %s, parked or released it", projection.ErrTransient, key)
			}
		}
		return tx.Save(ctx, changes)
	})
}

// storeAccepted stores the positions of the events that were accepted so far. Parked aggregates stay parked.
func (t *transaction) storeAccepted(ctx context.Context) error {
	changes := projection.Changes{Positions: make(map[es.AggregateID]projection.Position), At: time.Now()}
	for key, queue := range t.queues {
		if found := t.found[key]; queue.accepted > found.Version {
			changes.Positions[key] = projection.Position{Version: queue.accepted, Parked: found.Parked}
		}
	}
	if len(changes.Positions) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWithin)
	defer cancel()
	if err := t.store(ctx, changes); err != nil {
		return err
	}
	maps.Copy(t.found, changes.Positions)
	return nil
}
