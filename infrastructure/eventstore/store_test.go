package eventstore_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
)

func TestNumbersOfShards(t *testing.T) {
	for text, want := range map[string][]int{
		"": {64}, "16": {16}, "16,64": {16, 64}, "65536,64,1": {65536, 64, 1},
		"0": nil, "65537": nil, "16,": nil, "16, 64": nil, "16,16": nil, "many": nil, "-1": nil,
	} {
		settings, err := config.Read(func(name string) string {
			if name == "SHARD_COUNT" {
				return text
			}
			return ""
		}, eventstore.ReadSettings)
		if want == nil && (err == nil || !strings.Contains(err.Error(), "SHARD_COUNT")) || want != nil && (err != nil || !slices.Equal(settings.Shards, want)) {
			t.Errorf("%q: %v, %v", text, settings.Shards, err)
		}
	}
}

// A program that is paused within a transaction would hold up the queue of events for hours.
func TestAServerEndsASilentTransaction(t *testing.T) {
	address := testenv.MySQL(t)
	db, err := database.Open(t.Context(), address, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := migration.Up(t.Context(), db, sqlstore.Schema()); err != nil {
		t.Fatal(err)
	}
	store, err := eventstore.Open(t.Context(), eventstore.Settings{Kind: eventstore.MySQL, URL: address}, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close(t.Context()) }()
	const gate = "SELECT id FROM event_queue WHERE id = 1 "
	paused, err := store.SQL.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	var id int
	if err := paused.GetContext(t.Context(), &id, gate+"LOCK IN SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(t.Context(), "SET innodb_lock_wait_timeout = 20")
	if err == nil {
		err = db.GetContext(t.Context(), &id, gate+"FOR UPDATE")
	}
	if err != nil {
		t.Errorf("the transaction still holds its lock: %v", err)
	}
}
