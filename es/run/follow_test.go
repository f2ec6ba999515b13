package run_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/notebook"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/es/sqlstore"
)

func TestFollowRebuildsRowsOfAnotherVersion(t *testing.T) {
	file, err := sqlstore.OpenFile(t.Context(), filepath.Join(t.TempDir(), "notebooks.db"))
	if err != nil {
		t.Fatal(err)
	}
	service := es.NewService(notebook.Aggregate(), file, es.Settings{})
	opened, err := service.Handle(t.Context(), notebook.Request(es.Caller{}, "", notebook.Open{By: "ann", Title: "plans"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []int{1, 2, 2} {
		rows := rowstore.JSONRows[notebook.Event, string]{
			Table: "notebooks", Version: version, Events: notebook.Events(),
			Fold: func(row string, event es.Recorded[notebook.Event]) (string, error) {
				return fmt.Sprintf("%s, %T by version %d", row, event.Event, version), nil
			},
		}
		if err := rows.Create(t.Context(), file.DB); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		followed := make(chan error, 1)
		go func() { followed <- run.Follow(ctx, file, rows.Table, []string{rows.Table}, rows.Handler()) }()
		testenv.Eventually(t, 20*time.Second, func() error {
			row, at, err := rows.Read(t.Context(), file.DB, opened.Key, 0)
			if want := fmt.Sprintf(", notebook.Opened by version %d", version); err != nil || at != 1 || row != want {
				return fmt.Errorf("the row is %q at version %d, not %q: %w", row, at, want, err)
			}
			return nil
		})
		stop()
		if err := <-followed; err != nil {
			t.Error(err)
		}
	}
	if err := service.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := file.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
