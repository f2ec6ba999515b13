package publishing

import (
	"context"
	"fmt"
	"sync"

	"example.com/threads/es"
	"example.com/threads/extras/erasure"
)

// Opened returns a broker that opens sealed texts before publishing; those of erased people become [erasure.Erased]. An
// event whose key is missing by mistake is refused, which parks only its aggregate.
//
// erases returns the owner of texts that an event erases; empty: none. Once such an event is published, no text of this
// owner is published in clear any more.
func Opened(broker Broker, keys *erasure.Keyring, erases func(Event) (owner string)) Broker {
	return &opened{Broker: broker, keys: keys, erases: erases}
}

type opened struct {
	Broker
	keys   *erasure.Keyring
	erases func(Event) string
	clear  sync.RWMutex // held for reading while an event with opened texts is published
}

// Publish implements [Broker].
func (o *opened) Publish(ctx context.Context, event Event) error {
	if owner := o.erases(event); owner != "" && o.keys != nil {
		if err := o.destroy(ctx, event.Tenant, owner); err != nil {
			return err
		}
	}
	o.clear.RLock()
	defer o.clear.RUnlock()
	data, err := o.keys.OpenJSON(ctx, event.Tenant, event.Event.Data)
	switch {
	case err != nil && es.KindOf(err) == es.Internal:
		return &RefusedError{fmt.Errorf("nobody has been asked: %w", err)}
	case err != nil:
		return err
	}
	event.Event.Data = data
	return o.Broker.Publish(ctx, event)
}

// destroy destroys the key of an owner after the answers to all events that were opened with it. The process manager
// does the same, but may be slower, and a cached key lives on.
func (o *opened) destroy(ctx context.Context, tenant es.Tenant, owner string) error {
	o.clear.Lock()
	defer o.clear.Unlock()
	return o.keys.Destroy(ctx, tenant, owner)
}
