// Package chat is this application on top of the library: the keys of its aggregates, the answers to their commands,
// how their events change the read model (threads.go, accounts.go), and the process manager [LeaveOnClose].
package chat

import (
	"context"
	"fmt"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

// Service handles the commands of one aggregate type and stores its snapshots. Its errors are those that [es.KindOf]
// knows. It may be called concurrently.
type Service[C any] interface {
	// Handle applies a command and returns when its events are stored.
	Handle(ctx context.Context, request es.Request[C]) (es.Result, error)
	// Snapshot stores a snapshot of the aggregate's latest state and returns its version.
	Snapshot(ctx context.Context, caller es.Caller, id string) (uint64, error)
}

// Services handle the commands on threads and accounts. A program may wrap them.
type Services struct {
	Threads  Service[thread.Command]
	Accounts Service[account.Command]
}

// The services that handle the commands.
type (
	ThreadCommands  = es.Service[thread.Thread, thread.Command, thread.Event]
	AccountCommands = es.Service[account.Account, account.Command, account.Event]
)

// ThreadKey returns the key of a tenant's thread.
func ThreadKey(tenant es.Tenant, id thread.ID) es.AggregateID {
	return es.AggregateID{Tenant: tenant, Type: thread.AggregateType, ID: id.String()}
}

// ThreadID returns the thread's id in a key; zero if the key is not a thread's.
func ThreadID(key es.AggregateID) thread.ID { return idOf[thread.Thread](key, thread.AggregateType) }

// AccountID returns the account's id in a key; zero if the key is not an account's.
func AccountID(key es.AggregateID) account.ID {
	return idOf[ident.UserAccount](key, account.AggregateType)
}

func idOf[T any](key es.AggregateID, aggregateType string) ident.Of[T] {
	id, err := ident.Parse[T](key.ID)
	if err != nil || key.Type != aggregateType {
		return ident.Of[T]{}
	}
	return id
}

// AuditOf returns the audit of a row that an event makes.
func AuditOf(at es.Envelope) (query.Audit, error) {
	by, err := ident.Parse[ident.UserAccount](at.Executor)
	if err != nil {
		return query.Audit{}, fmt.Errorf("the executor is %q, which is no user account", at.Executor)
	}
	return query.Audit{
		CreatedBy: by, UpdatedBy: by, CreatedIP: clipped(at.ClientIP), UpdatedIP: clipped(at.ClientIP),
		RequestID: clipped(at.RequestID), Source: clipped(at.Source),
	}, nil
}

// ChangedBy returns the audit of a row that an event changes; by is the audit of a row that the event makes.
func ChangedBy(by, before query.Audit) query.Audit {
	by.CreatedBy, by.CreatedIP = before.CreatedBy, before.CreatedIP
	return by
}

// clipped is what the columns of an audit have room for, in characters.
func clipped(text string) string {
	const room = 255
	if len(text) <= room {
		return text
	}
	if runes := []rune(text); len(runes) > room {
		return string(runes[:room])
	}
	return text
}
