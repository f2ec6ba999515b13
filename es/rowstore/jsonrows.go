package rowstore

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore/table"
)

// JSONRows are a projection of one row for each aggregate of a type: E are its events, R is the row, which is stored as
// JSON under the tenant's code and the aggregate's id. For columns of its own, use [projection.OneRow] with [Rows].
type JSONRows[E, R any] struct {
	Table string // of the rows; also the projection's name
	// Version must be increased by every change that makes a different row from the same events: the rows are then
	// rebuilt. 0 means 1.
	Version int
	Events  *es.Codec[E]
	// Fold returns the row after the next event of its aggregate. The first row is the zero R. It is pure. An event
	// that contradicts the row is an error.
	Fold func(row R, event es.Recorded[E]) (R, error)
}

// Create creates the table if it does not exist.
func (r JSONRows[E, R]) Create(ctx context.Context, db *sqlx.DB) error {
	_, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+r.Table+
		" (tenant_code VARCHAR(32) NOT NULL, id VARCHAR(64) NOT NULL, content LONGTEXT NOT NULL, PRIMARY KEY (tenant_code, id))")
	if err != nil {
		return fmt.Errorf("create the table %s: %w", r.Table, err)
	}
	return nil
}

// Handler returns the handler that keeps the rows.
func (r JSONRows[E, R]) Handler() projection.Verifiable {
	return projection.OneRow[E, jsonRow[R]]{
		Events: r.Events, Version: r.Version, Rows: r.rows(),
		Next: func(before jsonRow[R], _ bool, event es.Recorded[E]) (jsonRow[R], error) {
			row, err := r.Fold(before.row, event)
			return jsonRow[R]{event.Tenant, event.AggregateID, row}, err
		},
	}
}

// lookAgain is the interval at which Read looks for a version.
const lookAgain = 5 * time.Millisecond

// Read returns the row of an aggregate and its version as soon as that is at least atLeast; 0: at once. If ctx ends
// before, it fails with [es.ErrBehind]. An aggregate without events has the zero row and version 0.
func (r JSONRows[E, R]) Read(ctx context.Context, db *sqlx.DB, key es.AggregateID, atLeast uint64) (row R, version uint64, err error) {
	store, err := New(db, r.Table)
	if err != nil {
		return row, 0, err
	}
	for {
		err = store.View(ctx, func(ctx context.Context, tx projection.Tx) error {
			positions, err := tx.Load(ctx, []es.AggregateID{key})
			if err != nil {
				return err
			}
			rows, err := r.rows().LoadRows(ctx, tx, []es.AggregateID{key})
			row, version = rows[key].row, positions[key].Version
			return err
		})
		switch {
		case ctx.Err() != nil:
			return row, version, fmt.Errorf("%w: %w", es.ErrBehind, context.Cause(ctx))
		case err != nil || version >= atLeast:
			return row, version, err
		}
		_ = es.Wait(ctx, lookAgain) // ctx is checked above
	}
}

func (r JSONRows[E, R]) rows() Rows[jsonRow[R]] {
	return Rows[jsonRow[R]]{table.Table[jsonRow[R]]{
		Name: r.Table, Columns: []string{"tenant_code", "id", "content"}, Key: 2,
		ID:     func(r *jsonRow[R]) []string { return []string{r.tenant.String(), r.id} },
		Fields: func(r *jsonRow[R]) []any { return []any{table.Tenant(&r.tenant), &r.id, &jsonField[R]{&r.row}} },
	}}
}

type jsonRow[R any] struct {
	tenant es.Tenant
	id     string
	row    R
}

// jsonField is a field that is stored as JSON.
type jsonField[R any] struct{ field *R }

// Scan implements [database/sql.Scanner].
func (f *jsonField[R]) Scan(source any) error {
	var row R // without what the field held before
	var err error
	switch source := source.(type) {
	case string:
		err = json.Unmarshal([]byte(source), &row)
	case []byte:
		err = json.Unmarshal(source, &row)
	default:
		err = fmt.Errorf("expected JSON, found %T", source)
	}
	*f.field = row
	return err
}

// Value implements [driver.Valuer].
func (f *jsonField[R]) Value() (driver.Value, error) {
	text, err := json.Marshal(*f.field)
	return string(text), err
}
