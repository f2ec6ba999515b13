// Package chat is this application on top of the library: what commands are answered, how the events of each aggregate
// change the read model, and process managers.
package chat

import (
	"context"
	"fmt"

	"example.com/threads/domain/ident"
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
