package es_test

import (
	"strings"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
)

// A row without the key of its aggregate would be the one row of all of them.
func TestARowWithoutTheKeyOfItsAggregate(t *testing.T) {
	w := openWarehouse(t.Context())
	defer w.close()
	_, err := migration.Up(t.Context(), w.store.DB, migration.Set{Name: "levels", Table: "levels_migrations", Files: levelMigrations})
	if err != nil {
		t.Fatal(err)
	}
	positions, err := rowstore.New(w.store.DB, "levels")
	if err != nil {
		t.Fatal(err)
	}
	handler := rowstore.OneRow(table.Of[Level]("levels", 2), shelves.Events, 1, func(row Level, _ bool, e es.Recorded[Moved]) (Level, error) {
		row.Pieces += e.Event.Pieces
		return row, nil
	})
	w.move(t.Context(), bolts, 4)
	projector := projection.New(positions, w.store, projection.Options{}, handler)
	if err := projector.ProjectAll(t.Context(), w.store, positions, 1); err != nil {
		t.Fatal(err)
	}
	letters, err := rowstore.Letters(t.Context(), w.store.DB, 100)
	if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, "must set") {
		t.Errorf("%+v, %v", letters, err)
	}
}
