package main

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/command"
	"example.com/threads/es/database"
	"example.com/threads/es/eventstore"
	"example.com/threads/es/repository"
	"example.com/threads/es/sqlstore"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/threadcodec"
	"example.com/threads/tests/chattest"
	"example.com/threads/usecase/chat"
)

// A snapshot of an earlier format is good for commands but not for history, so another one must replace it.
func TestASnapshotWithoutNumbersIsReplaced(t *testing.T) {
	getenv := sqliteStore(t)
	db, err := database.Open(t.Context(), getenv("EVENT_STORE_URL"), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	discard := slog.New(slog.DiscardHandler)
	gateway, err := sqlstore.New(db, sqlstore.Settings{Clock: time.Now, Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gateway.Close(context.WithoutCancel(t.Context())) }()
	threads := chatstore.NewThreadRepository(gateway, repository.Settings{Logger: discard})
	commands := command.NewService(chat.Threads(), threads, command.Settings{})
	defer commands.Drain()
	var id thread.ID
	ada, member := chattest.NewID[ident.UserAccount](), chattest.NewID[thread.Member]()
	do := func(c thread.Command) {
		t.Helper()
		request := chattest.Request(es.Caller{Executor: ada.String()}, id, c)
		if _, err := commands.Handle(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		if id, err = ident.Parse[thread.Thread](request.ID); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(name string) thread.Command {
		return thread.Rename{Executor: ada, Name: writing.RecordedName(name)}
	}
	do(thread.Create{Executor: ada, Name: writing.RecordedName("tea")})
	do(rename("coffee"))
	aggregate := eventstore.AggregateID{Type: thread.AggregateType, ULID: id.String()}
	old := `{"format":2,"id":{"value":"` + id.String() + `"},"name":"coffee","members":{"members_ids_by_user_account_id":{"` + ada.String() + `":"` + member.String() +
		`"},"members":{"` + member.String() + `":{"id":"` + member.String() + `","user_account_id":{"value":"` + ada.String() + `"},"role":"Admin"}}},"messages":[],"version":2}`
	if err := gateway.SaveSnapshot(t.Context(), aggregate, eventstore.Snapshot{Version: 2, Payload: []byte(old)}); err != nil {
		t.Fatal(err)
	}
	do(rename("cocoa"))

	if err := quiet(t.Context(), []string{"snapshots", "take", aggregate.String()}, getenv, io.Discard); err != nil {
		t.Fatal(err)
	}
	head, err := gateway.Head(t.Context(), aggregate)
	if err != nil {
		t.Fatal(err)
	}
	for snapshot, err := range gateway.Snapshots(t.Context(), aggregate, head) { // the latest first
		if err != nil {
			t.Fatal(err)
		}
		if _, version, _, err := (threadcodec.NumberedSnapshots{}).Decode(snapshot.Payload); version != 3 || err != nil {
			t.Errorf("version %d, %v: %s", version, err, snapshot.Payload)
		}
		break
	}
}
