package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
)

// appends returns a function that appends an entry by calling the event store directly, each client to an aggregate of
// its own. It shows the effect of group commit without HTTP, commands and projection.
func appends(ctx context.Context, folder string) (_ func(ctx context.Context, client int) error, end func(), err error) {
	db, err := database.Open(ctx, "sqlite:"+filepath.Join(folder, "appends.db"), database.Settings{})
	if err != nil {
		return nil, nil, err
	}
	if _, err := migration.Up(ctx, db, sqlstore.Schema()); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	store, err := sqlstore.New(ctx, db, sqlstore.Settings{})
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
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
	}, func() { _ = errors.Join(store.Close(context.WithoutCancel(ctx)), db.Close()) }, nil
}

// entry is similar to that of a short message.
func entry(seqNr uint64) es.Entry {
	id := ulid.Make().String()
	return es.Entry{
		SeqNr: seqNr, EventID: id, EventType: "ThreadMessagePosted", OccurredAt: time.Now(), UserID: id, CommandID: id, CorrelationID: id,
		Payload: fmt.Appendf(nil, `{"data":%q}`, strings.Repeat("x", eventSize)),
	}
}
