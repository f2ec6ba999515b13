// Package tenants is the registry of tenants: operators register, suspend and reactivate them, and requests of others
// are refused where a program asks for that. A tenant is an aggregate; its rows are in the database of the read model.
package tenants

import (
	"context"
	"log/slog"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

// Aggregate is the aggregate type of registered tenants.
func Aggregate() es.Aggregate[Tenant, Command, Event] {
	return es.Aggregate[Tenant, Command, Event]{
		Decide: Decide, Apply: Tenant.Apply, Usable: Tenant.Usable, Events: Events(),
		Answer: func(events []Event) map[string]string {
			return map[string]string{answerCode: string(Tenant{}.Apply(events[0]).Code)}
		},
	}
}

// Events returns the codec of tenants' events, which are written as their own JSON; the tenant in the envelope has the
// empty code. Every version ever written stays readable and has a golden file in testdata.
func Events() *es.Codec[Event] {
	return es.NewCodec(AggregateType, ident.Canonical, es.Plain[Event, Created]("TenantCreated").Whole(),
		es.Plain[Event, Suspended]("TenantSuspended").Whole(), es.Plain[Event, Reactivated]("TenantReactivated").Whole())
}

// answerCode is the name of a tenant's code in an answer.
const answerCode = "tenant_code"

// Key returns the key of a registered tenant. The registry itself belongs to the tenant with the empty code.
func Key(code Code) es.AggregateID {
	return es.AggregateID{Type: AggregateType, ID: IDOf(code).String()}
}

// Versions lets consistency tokens name tenants.
func Versions() query.Awaitable { return query.Awaitable{Type: AggregateType, Global: true} }

// InJournal returns the registry in an event store.
func InJournal(gateway es.EventPersistenceGateway, log *slog.Logger) IsActive {
	tenants := es.NewRepository(Aggregate(), gateway, es.Settings{CacheBytes: 1 << 20, Logger: log})
	return func(ctx context.Context, named es.Tenant) (bool, error) {
		state, err := tenants.Reload(ctx, Key(Code(named)))
		return state.Value.IsActive(), err
	}
}
