package erasure

import (
	"context"

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
func (k *Keyring) Forget(types []es.AnyAggregate) []func(*run.Turn) (run.Consumer, error) {
	if k == nil {
		return nil
	}
	var ignore []string
	for _, each := range types {
		ignore = append(ignore, each.Type())
	}
	return []func(*run.Turn) (run.Consumer, error){func(turn *run.Turn) (run.Consumer, error) {
		return turn.Process(run.Process{
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
		})
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
func (e *erasures) Save(ctx context.Context) error {
	if len(e.commands) == 0 {
		return nil
	}
	return e.outbox.Add(ctx, e.tx, e.commands)
}
