package rowstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/notebook"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

func TestJSONRows(t *testing.T) {
	t.Run("mysql", func(t *testing.T) {
		opened := open(t, testenv.MySQL(t))
		// As servers may have it.
		if _, err := opened.db.ExecContext(t.Context(), "ALTER DATABASE CHARACTER SET latin1"); err != nil {
			t.Fatal(err)
		}
		projectJSON(t, opened)
	})
	t.Run("sqlite", func(t *testing.T) { projectJSON(t, open(t, "sqlite:"+filepath.Join(t.TempDir(), "rows.db"))) })
}

func projectJSON(t *testing.T, db *fixture) {
	type row struct {
		Title string
		Notes []string
	}
	rows := rowstore.JSONRows[notebook.Event, row]{
		Table: "notebooks", Events: notebook.Events(),
		Fold: func(r row, event es.Recorded[notebook.Event]) (row, error) {
			switch e := event.Event.(type) {
			case notebook.Opened:
				r.Title = e.Title
			case notebook.Written:
				r.Notes = append(r.Notes, e.Text)
			}
			return r, nil
		},
	}
	for range 2 {
		if err := rows.Create(t.Context(), db.db); err != nil {
			t.Fatal(err)
		}
	}
	store, err := rowstore.New(db.db, rows.Table)
	if err != nil {
		t.Fatal(err)
	}
	projector := projection.New(store, struct{ es.Journal }{}, projection.Options{}, rows.Handler())
	key := es.AggregateID{Type: notebook.Type, ID: notebook.NewID()}
	now := time.Now().UTC().Truncate(time.Microsecond)
	for i, event := range []notebook.Event{notebook.Opened{Owner: "ann", Title: "plans"}, notebook.Written{Text: "お茶 🍵"}, notebook.Written{Text: "<i>"}} {
		envelope := es.Envelope{EventID: notebook.NewID(), AggregateType: key.Type, AggregateID: key.ID, SeqNr: uint64(i) + 1, OccurredAt: now}
		payload, err := notebook.Events().Encode(es.Recorded[notebook.Event]{Envelope: envelope, Event: event})
		if err == nil {
			_, err = projector.Project(t.Context(), projection.Batch{Records: []projection.Record{{Key: key, SeqNr: envelope.SeqNr, Payload: payload}}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	found, version, err := rows.Read(t.Context(), db.db, key, 3)
	if err != nil || version != 3 || found.Title != "plans" || len(found.Notes) != 2 || found.Notes[0] != "お茶 🍵" || found.Notes[1] != "<i>" {
		t.Errorf("read %+v at version %d, %v", found, version, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, version, err := rows.Read(ctx, db.db, key, 4); !errors.Is(err, es.ErrBehind) {
		t.Errorf("read version %d instead of 4, %v", version, err)
	}
}
