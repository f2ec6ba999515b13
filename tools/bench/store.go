package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/sqlstore"
)

// appends returns a function that appends an entry by calling the event store directly, each client to an aggregate of
// its own. It shows the effect of group commit without HTTP, commands and projection.
func appends(ctx context.Context, folder string) (_ func(ctx context.Context, client int) error, end func(), err error) {
	store, err := sqlstore.OpenFile(ctx, filepath.Join(folder, "appends.db"))
	if err != nil {
		return nil, nil, err
	}
	ids, versions := make([]string, mostClients), make([]uint64, mostClients)
	for i := range ids {
		ids[i] = ulid.Make().String()
	}
	return func(ctx context.Context, client int) error {
		id := es.AggregateID{Tenant: "default", Type: "thread", ID: ids[client]}
		version := versions[client]
		versions[client]++
		return store.Append(ctx, es.Append{ID: id, ExpectedVersion: version, Entries: []es.Entry{entry(version + 1)}})
	}, func() { _ = store.Close(context.WithoutCancel(ctx)) }, nil
}

// entry is similar to that of a short message.
func entry(seqNr uint64) es.Entry {
	id := ulid.Make().String()
	return es.Entry{
		SeqNr: seqNr, EventID: id, EventType: "ThreadMessagePosted", OccurredAt: time.Now(), UserID: id, CommandID: id, CorrelationID: id,
		Payload: fmt.Appendf(nil, `{"data":%q}`, strings.Repeat("x", eventSize)),
	}
}
