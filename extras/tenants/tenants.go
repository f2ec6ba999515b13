// Package tenants is the registry of tenants: operators register, suspend and reactivate them, and requests of others
// are refused where a program asks for that. A tenant is an aggregate; its rows are in the database of the read model.
package tenants

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"

	"github.com/oklog/ulid/v2"

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

const (
	AggregateType = "tenant"      // what event stores know tenants as
	answerCode    = "tenant_code" // in an answer
)

type ID = ident.Of[Tenant]

// Code is what requests and rows name a tenant by.
type Code string

// ParseCode parses a code: 1 to 32 characters of a-z, 0-9 and -. Anything else is an [ident.InvalidError].
func ParseCode(text string) (Code, error) {
	if tenant, err := es.ParseTenant(text); err != nil || tenant == "" {
		return "", &ident.InvalidError{Field: "tenant_code", Reason: "must be 1 to 32 characters out of a-z, 0-9 and -"}
	}
	return Code(text), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler] with [ParseCode].
func (c *Code) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCode(string(text))
	return err
}

// IDOf returns the id of the tenant with the code. It follows from the code, so that a code is registered once.
func IDOf(code Code) ID {
	sum := sha256.Sum256([]byte("tenant " + code))
	return ident.FromULID[Tenant](ulid.ULID(sum[:16]))
}

// Tenant is the state of a tenant. The zero value is a tenant that is not registered. Snapshots have its JSON.
type Tenant struct {
	Code      Code
	Suspended bool
}

// IsActive reports whether requests of the tenant are answered.
func (t Tenant) IsActive() bool { return t.Usable() == nil && !t.Suspended }

// Command is a request to change a tenant. The set is closed: all types are in this file.
//
//sumtype:decl
type Command interface {
	// name returns the result of [CommandName].
	name() string
}

// CommandName returns the name by which repeats of the command are recognised; it must never change.
func CommandName(c Command) string { return c.name() }

// The commands.
type (
	Create     struct{ Code Code } // registers a tenant, which is active from then on
	Suspend    struct{}            // makes a tenant's requests be refused; its data stays
	Reactivate struct{}            // ends the suspension
)

func (Create) name() string     { return "tenant.Create" }
func (Suspend) name() string    { return "tenant.Suspend" }
func (Reactivate) name() string { return "tenant.Reactivate" }

// Event is a fact about a tenant. The set is closed: all types are in this file.
//
//sumtype:decl
type Event interface{ isEvent() }

// The events.
type (
	Created     fact // the tenant was registered
	Suspended   fact // the tenant was suspended
	Reactivated fact // the suspension has ended

	fact struct {
		Code Code `json:"code"`
	}
)

func (Created) isEvent()     {}
func (Suspended) isEvent()   {}
func (Reactivated) isEvent() {}

// The rejections of well-formed commands. Compare with errors.Is.
var (
	ErrTenantNotFound  = ident.NotFound("tenant_not_found", "the tenant is not registered")
	ErrTenantExists    = ident.Conflict("tenant_exists", "the tenant is registered already")
	ErrTenantSuspended = ident.Conflict("tenant_suspended", "the tenant is suspended already")
	ErrTenantActive    = ident.Conflict("tenant_active", "the tenant is not suspended")
)

// Usable returns the rejection if the tenant is not registered; otherwise nil.
func (t Tenant) Usable() error {
	if t.Code == "" {
		return ErrTenantNotFound
	}
	return nil
}

// Decide returns the events that result from command on state, or the rejection. It is pure.
func Decide(state Tenant, command Command) ([]Event, error) {
	if _, begins := command.(Create); !begins {
		if err := state.Usable(); err != nil {
			return nil, err
		}
	}
	switch c := command.(type) {
	case Create:
		if state.Usable() == nil {
			return nil, ErrTenantExists
		}
		return []Event{Created(c)}, nil
	case Suspend:
		if state.Suspended {
			return nil, ErrTenantSuspended
		}
		return []Event{Suspended{state.Code}}, nil
	case Reactivate:
		if !state.Suspended {
			return nil, ErrTenantActive
		}
		return []Event{Reactivated{state.Code}}, nil
	default: // only a new command without a case can get here
		panic(fmt.Sprintf("tenant: no decision for command %T", command))
	}
}

// Apply returns the state after the event, which says all that a state has. It never fails.
func (Tenant) Apply(event Event) Tenant {
	switch e := event.(type) {
	case Created:
		return Tenant{Code: e.Code}
	case Suspended:
		return Tenant{Code: e.Code, Suspended: true}
	case Reactivated:
		return Tenant{Code: e.Code}
	default: // only a new event without a case can get here
		panic(fmt.Sprintf("tenant: no state after event %T", event))
	}
}
