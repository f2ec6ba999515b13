package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/usecase/chat"
)

// shares measures posters at two writers that post to one thread, like two write-apis on one store. It returns the
// fewest posts of a poster divided by an even share: 1 is perfectly fair.
func shares(ctx context.Context, folder string, posters int, duration time.Duration) (_ float64, err error) {
	var writers []*chat.ThreadCommands
	for range 2 {
		writer, end, err := writer(ctx, filepath.Join(folder, "shares.db"))
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, end()) }()
		writers = append(writers, writer)
	}
	ada, id := ident.FromULID[ident.UserAccount](ulid.Make()), ulid.Make().String()
	post := func(writer *chat.ThreadCommands, begins bool, wanted thread.Command) error {
		_, err := writer.Handle(ctx, es.Request[thread.Command]{
			Caller: es.Caller{Executor: ada.String(), Source: "bench"}, ID: id, Begins: begins, Command: wanted, Name: thread.CommandName(wanted),
		})
		return err
	}
	member := ident.FromULID[thread.Member](ulid.Make())
	if err := post(writers[0], true, thread.Create{Executor: ada, Member: member, Name: writing.RecordedName("busy")}); err != nil {
		return 0, err
	}
	counts := make([]atomic.Int64, 2*posters)
	begun := time.Now()
	var group errgroup.Group
	for poster := range counts {
		group.Go(func() error {
			for time.Since(begun) < duration {
				message := ident.FromULID[thread.Message](ulid.Make())
				if err := post(writers[poster%2], false, thread.PostMessage{Executor: ada, Message: message, Text: thread.RecordedText("hello")}); err != nil {
					return err
				}
				counts[poster].Add(1)
			}
			return nil
		})
	}
	err = group.Wait()
	fewest, total := counts[0].Load(), int64(0)
	for i := range counts {
		fewest, total = min(fewest, counts[i].Load()), total+counts[i].Load()
	}
	return float64(fewest) * float64(len(counts)) / float64(max(total, 1)), err
}

// writer is a command service on an event store in file, with a function that ends it.
func writer(ctx context.Context, file string) (*chat.ThreadCommands, func() error, error) {
	db, err := database.Open(ctx, "sqlite:"+file, database.Settings{})
	if err != nil {
		return nil, nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	_, err = migration.Up(ctx, db, sqlstore.Schema())
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	store, err := sqlstore.New(ctx, db, sqlstore.Settings{})
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	service := es.NewService(eventjson.Threads(), store, es.Settings{Logger: quiet})
	return service, func() error {
		finish := context.WithoutCancel(ctx)
		return errors.Join(service.Close(finish), store.Close(finish), db.Close())
	}, nil
}
