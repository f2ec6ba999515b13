package erasure

import (
	"context"
	"fmt"
	"sync"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/interfaceadaptor/eventjson"
)

var erasedEvent = eventjson.Accounts().Events.EventType(account.Erased{})

type publish = func(ctx context.Context, event es.Described) error

// Broker opens the sealed texts of events before they are published; those of erased people become [Erased]. An event
// whose key is missing by mistake is refused, which parks only its aggregate. Once an account's erasure is published,
// no text of its owner is published in clear any more.
func (k *Keyring) Broker(next publish) publish { return (&openedBroker{next: next, keys: k}).publish }

type openedBroker struct {
	next  publish
	keys  *Keyring
	clear sync.RWMutex // held for reading while an event with opened texts is published
}

func (o *openedBroker) publish(ctx context.Context, event es.Described) error {
	if o.keys != nil && event.AggregateType == account.AggregateType && event.Type == erasedEvent {
		o.forget(event.Tenant, event.AggregateID)
	}
	o.clear.RLock()
	defer o.clear.RUnlock()
	data, err := o.keys.OpenJSON(ctx, event.Tenant, event.Data)
	switch {
	case err != nil && es.KindOf(err) == es.Internal:
		return fmt.Errorf("nobody has been asked: %w: %w", projection.ErrRefused, err)
	case err != nil:
		return err
	}
	event.Data = data
	return o.next(ctx, event)
}

// forget removes the key of an erased account from the cache, after the answers to all events that were opened with it.
// The key itself was destroyed before the event was stored; see [Keyring.Commands].
func (o *openedBroker) forget(tenant es.Tenant, owner string) {
	o.clear.Lock()
	defer o.clear.Unlock()
	o.keys.keys.Remove(about(tenant, owner))
}
