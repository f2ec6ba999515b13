package erasure

import (
	"context"
	"fmt"
	"sync"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/interfaceadaptor/eventjson"
)

// Forgetting is the name of the process that destroys the keys of erased accounts.
const Forgetting = "forget-erased"

// destroyKey is its command. It is for the key store, not for an aggregate.
const destroyKey = "account.DestroyKey"

// Forget returns the process that destroys the keys of erased accounts. types are all aggregate types of the program.
// Without a keyring there is none.
func (k *Keyring) Forget(types []es.AnyAggregate) []func() run.Process {
	if k == nil {
		return nil
	}
	var ignore []string
	for _, each := range types {
		ignore = append(ignore, each.Type())
	}
	return []func() run.Process{func() run.Process {
		return run.Process{
			Name: Forgetting,
			Send: func(ctx context.Context, _ es.Caller, _ string, c process.Command) error {
				return k.Destroy(ctx, c.Target.Tenant, c.Target.ID)
			},
			Handlers: func(commands *process.Outbox) []projection.Handler {
				return []projection.Handler{erasures{AnyAggregate: eventjson.Accounts(), outbox: commands}}
			},
			Ignore: ignore,
			Hold:   func(context.Context) error { return nil },
			Finish: func(context.Context) error { return nil },
		}
	}}
}

var erasedEvent = eventjson.Accounts().Events.EventType(account.Erased{})

// erasures is the handler of accounts, and what the events of one transaction lead to: a command for each account that
// is erased.
type erasures struct {
	es.AnyAggregate
	outbox   *process.Outbox
	tx       projection.Tx
	commands []process.Command
}

// Decode implements [projection.Handler].
func (e erasures) Decode(payload []byte) (projection.Event, error) { return e.DecodeEvent(payload) }

// Load implements [projection.Handler].
func (e erasures) Load(_ context.Context, tx projection.Tx, _ []projection.Event) (projection.Fold, error) {
	e.tx = tx
	return &e, nil
}

// Apply implements [projection.Fold].
func (e *erasures) Apply(recorded projection.Event) error {
	if _, is := recorded.Event.(account.Erased); is {
		e.commands = append(e.commands, process.Command{
			Target: recorded.Aggregate(), Name: destroyKey, EventID: recorded.EventID,
			Executor: recorded.AggregateID, CausationID: recorded.EventID, CorrelationID: recorded.CorrelationID,
		})
	}
	return nil
}

// Save implements [projection.Fold].
func (e *erasures) Save(ctx context.Context) error { return e.outbox.Add(ctx, e.tx, e.commands) }

// Broker is where events are published.
type Broker interface {
	Publish(ctx context.Context, event es.Described) error
	Close() error
}

// Broker returns a broker that opens sealed texts before publishing; those of erased people become [Erased]. An event
// whose key is missing by mistake is refused, which parks only its aggregate. Once an account's erasure is published,
// no text of its owner is published in clear any more.
func (k *Keyring) Broker(broker Broker) Broker { return &openedBroker{Broker: broker, keys: k} }

type openedBroker struct {
	Broker
	keys  *Keyring
	clear sync.RWMutex // held for reading while an event with opened texts is published
}

// Publish implements [Broker].
func (o *openedBroker) Publish(ctx context.Context, event es.Described) error {
	if o.keys != nil && event.AggregateType == account.AggregateType && event.Type == erasedEvent {
		if err := o.destroy(ctx, event.Tenant, event.AggregateID); err != nil {
			return err
		}
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
	return o.Broker.Publish(ctx, event)
}

// destroy destroys the key of an owner after the answers to all events that were opened with it. The process of
// [Keyring.Forget] does the same, but may be slower, and a cached key lives on.
func (o *openedBroker) destroy(ctx context.Context, tenant es.Tenant, owner string) error {
	o.clear.Lock()
	defer o.clear.Unlock()
	return o.keys.Destroy(ctx, tenant, owner)
}
