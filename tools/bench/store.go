package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
)

// appends returns the entries per second that clients append by calling the event store directly, each to an aggregate
// of its own. It shows the effect of group commit without HTTP, commands and projection.
func appends(ctx context.Context, folder string, clients int, duration time.Duration) (_ float64, err error) {
	db, err := database.Open(ctx, "sqlite:"+filepath.Join(folder, "appends.db"), database.Settings{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := migration.Up(ctx, db, sqlstore.Schema()); err != nil {
		return 0, err
	}
	store, err := sqlstore.New(ctx, db, sqlstore.Settings{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()

	var count atomic.Int64
	begun := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for range clients {
		group.Go(func() error {
			id := es.AggregateID{Tenant: "default", Type: "thread", ID: ulid.Make().String()}
			for version := uint64(0); time.Since(begun) < duration; version++ {
				if err := store.Append(ctx, es.Append{ID: id, ExpectedVersion: version, Entries: []es.Entry{entry(version + 1)}}); err != nil {
					return err
				}
				count.Add(1)
			}
			return nil
		})
	}
	err = group.Wait()
	return float64(count.Load()) / time.Since(begun).Seconds(), err
}

// entry is similar to that of a short message.
func entry(seqNr uint64) es.Entry {
	id := ulid.Make().String()
	return es.Entry{
		SeqNr: seqNr, EventID: id, EventType: "ThreadMessagePosted", OccurredAt: time.Now(), UserID: id, CommandID: id, CorrelationID: id,
		Payload: fmt.Appendf(nil, `{"data":%q}`, strings.Repeat("x", eventSize)),
	}
}
