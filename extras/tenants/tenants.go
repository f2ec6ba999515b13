// Package tenants is the registry of tenants: operators register, suspend and reactivate them, and requests of others
// are refused where a program asks for that. Its aggregate is package tenant; its rows are in the database of the read
// model.
package tenants

import (
	"context"
	"log/slog"

	"example.com/threads/es"
	"example.com/threads/extras/tenants/tenant"
	"example.com/threads/usecase/query"
)

// Aggregate is the aggregate type of registered tenants.
func Aggregate() es.Aggregate[tenant.Tenant, tenant.Command, tenant.Event] {
	return es.Aggregate[tenant.Tenant, tenant.Command, tenant.Event]{
		Decide: tenant.Decide, Apply: tenant.Tenant.Apply, Usable: tenant.Tenant.Usable, Events: tenant.Events(),
		Answer: func(events []tenant.Event) map[string]string {
			return map[string]string{answerCode: string(tenant.Tenant{}.Apply(events[0]).Code)}
		},
	}
}

// answerCode is the name of a tenant's code in an answer.
const answerCode = "tenant_code"

// Key returns the key of a registered tenant. The registry itself belongs to the tenant with the empty code.
func Key(code tenant.Code) es.AggregateID {
	return es.AggregateID{Type: tenant.AggregateType, ID: tenant.IDOf(code).String()}
}

// Versions lets consistency tokens name tenants.
func Versions() query.Awaitable { return query.Awaitable{Type: tenant.AggregateType, Global: true} }

// InJournal returns the registry in an event store.
func InJournal(gateway es.EventPersistenceGateway, log *slog.Logger) IsActive {
	tenants := es.NewRepository(Aggregate(), gateway, es.Settings{CacheBytes: 1 << 20, Logger: log})
	return func(ctx context.Context, named es.Tenant) (bool, error) {
		state, err := tenants.Reload(ctx, Key(tenant.Code(named)))
		return state.Value.IsActive(), err
	}
}
