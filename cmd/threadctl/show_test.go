// extra:chat

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/sqlstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/tests/chattest"
	"example.com/threads/tests/kit"
)

func TestWhatACommandDid(t *testing.T) {
	getenv := sqliteStore(t)
	db, err := database.Open(t.Context(), getenv("EVENT_STORE_URL"), database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	discard := slog.New(slog.DiscardHandler)
	gateway, err := sqlstore.New(t.Context(), db, sqlstore.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gateway.Close(context.WithoutCancel(t.Context())) }()
	commands := es.NewService(eventjson.Threads(), gateway, es.Settings{Logger: discard})
	defer func() { _ = commands.Close(context.WithoutCancel(t.Context())) }()
	var id thread.ID
	ada := kit.NewID[ident.UserAccount]()
	for _, c := range []thread.Command{
		thread.Create{Executor: ada, Name: writing.RecordedName("tea")},
		thread.Rename{Executor: ada, Name: writing.RecordedName("coffee")},
	} {
		request := chattest.Request(es.Caller{Executor: ada.String()}, id, c)
		if _, err := commands.Handle(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		if id, err = ident.Parse[thread.Thread](request.ID); err != nil {
			t.Fatal(err)
		}
	}
	type shown struct {
		Events []struct {
			SeqNr   int `json:"seq_nr"`
			Payload struct {
				Type      string `json:"type"`
				CommandID string `json:"command_id"`
			} `json:"payload"`
		} `json:"events"`
	}
	show := func(flags ...string) (out shown) {
		t.Helper()
		var text bytes.Buffer
		args := append([]string{"journal", "show", "thread-" + id.String()}, flags...)
		if err := quiet(t.Context(), args, getenv, &text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text.Bytes(), &out); err != nil {
			t.Fatalf("%v: %s", err, text.String())
		}
		return out
	}
	all := show()
	if len(all.Events) != 2 {
		t.Fatalf("%+v", all)
	}
	for _, event := range all.Events {
		of := show("--command", event.Payload.CommandID)
		if len(of.Events) != 1 || of.Events[0] != event {
			t.Errorf("of %+v: %+v", event, of)
		}
	}
	// whatever is missing
	if _, err := db.ExecContext(t.Context(), "DELETE FROM events WHERE version = 1"); err != nil {
		t.Fatal(err)
	}
	if left := show(); len(left.Events) != 1 || left.Events[0] != all.Events[1] {
		t.Errorf("without an event: %+v", left)
	}
	unknown := []string{"journal", "show", "thread-" + id.String(), "--command", id.String()}
	if err := quiet(t.Context(), unknown, getenv, io.Discard); exitCode(err) != 1 {
		t.Errorf("of a command that did nothing here: %v", err)
	}
}
