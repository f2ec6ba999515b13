package publishing

import (
	"context"
	"fmt"

	"example.com/threads/es"
	"example.com/threads/usecase/erasure"
)

// Opened returns a broker that opens sealed texts before publishing; those of erased people become [erasure.Erased]. An
// event whose key is missing by mistake is refused, which parks only its aggregate.
func Opened(broker Broker, keys *erasure.Keyring) Broker { return opened{broker, keys} }

type opened struct {
	Broker
	keys *erasure.Keyring
}

// Publish implements [Broker].
func (o opened) Publish(ctx context.Context, event Event) error {
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
