package es_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"example.com/threads/es"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
)

// A row can have columns of its own, for queries, in a table that a migration creates. run.Follow keeps such rows as it
// keeps others; here, what is in the journal is projected once.
func Example_columns() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()
	_, err := migration.Up(ctx, w.store.DB, migration.Set{Name: "levels", Table: "levels_migrations", Files: levelMigrations})
	check(err)
	levels := table.Of[Level]("levels", 2)
	handler := rowstore.OneRow(levels, shelves.Events, 1, func(row Level, _ bool, e es.Recorded[Moved]) (Level, error) {
		return Level{e.Tenant, e.AggregateID, row.Pieces + e.Event.Pieces}, nil
	})

	w.move(ctx, nuts, 7)
	w.move(ctx, bolts, 4)
	w.move(ctx, bolts, -1)
	positions, err := rowstore.New(w.store.DB, levels.Name)
	check(err)
	check(projection.New(positions, w.store, projection.Options{}, handler).ProjectAll(ctx, w.store, positions, 1))
	err = levels.Select(ctx, w.store.DB, func(row Level) { fmt.Println(row.ID == bolts.ID, row.Pieces) }, "WHERE pieces < ?", 5)
	fmt.Println(err)
	// Output:
	// true 3
	// <nil>
}

// Level is the row: its primary key, and what queries need.
type Level struct {
	Tenant es.Tenant `db:"tenant_code"`
	ID     string    `db:"id"`
	Pieces int       `db:"pieces"`
}

var levelMigrations = fstest.MapFS{"sqlite/00001_levels.sql": {Data: []byte(`-- +goose Up
CREATE TABLE levels (tenant_code TEXT NOT NULL, id TEXT NOT NULL, pieces INTEGER NOT NULL, PRIMARY KEY (tenant_code, id));
`)}}
