package sqlstore_test

import (
	"path/filepath"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/estest/notebook"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/sqlstore"
)

func TestAFileIsCreatedAndOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.db")
	request := notebook.Request(es.Caller{Executor: notebook.NewID()}, "", notebook.Open{By: "ann", Title: "plans"})
	for version := range uint64(2) {
		file, err := sqlstore.OpenFile(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		head, err := file.Head(t.Context(), es.AggregateID{Type: notebook.Type, ID: request.ID})
		if err != nil || head.Version != version {
			t.Errorf("the head is at version %d, not %d, %v", head.Version, version, err)
		}
		service := es.NewService(notebook.Aggregate(), file, es.Settings{})
		if version == 0 {
			if _, err := service.Handle(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := rowstore.New(file.DB, "rows")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rows.Types(t.Context()); err != nil {
			t.Errorf("the tables of projections are missing: %v", err)
		}
		if err := service.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := file.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := sqlstore.OpenFile(t.Context(), filepath.Join(path, "below a file.db")); err == nil {
		t.Error("a file below a file can be opened")
	}
}
