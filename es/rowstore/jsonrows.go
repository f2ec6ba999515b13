package rowstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore/table"
)

// JSONRows are a projection of one row for each aggregate of a type: E are its events, R is the row, which is stored as
// JSON under the tenant's code and the aggregate's id. For columns of its own, use [OneRow].
type JSONRows[E, R any] struct {
	Table string // of the rows; also the projection's name
	// Version is that of the rows; see [projection.Verifiable]. 0 means 1.
	Version int
	Events  *es.Codec[E]
	// Fold returns the row after the next event; the first row is the zero R. It is pure; see [projection.Fold].
	Fold func(row R, event es.Recorded[E]) (R, error)
}

// Create creates the table if it does not exist.
func (r JSONRows[E, R]) Create(ctx context.Context, db *sqlx.DB) error {
	dialect, err := sqldialect.Of(db)
	if err == nil {
		_, err = db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+r.Table+
			" (tenant_code VARCHAR(32) NOT NULL, id VARCHAR(64) NOT NULL, content LONGTEXT NOT NULL, PRIMARY KEY (tenant_code, id))"+dialect.Charset())
	}
	if err != nil {
		return fmt.Errorf("create the table %s: %w", r.Table, err)
	}
	return nil
}

// Handler returns the handler that keeps the rows.
func (r JSONRows[E, R]) Handler() projection.Verifiable {
	return OneRow(r.rows(), r.Events, r.Version, func(before jsonRow, _ bool, event es.Recorded[E]) (jsonRow, error) {
		row, err := r.rowOf(before)
		if err == nil {
			row, err = r.Fold(row, event)
		}
		if err != nil {
			return before, err
		}
		content, err := json.Marshal(row)
		return jsonRow{event.Tenant, event.AggregateID, string(content)}, err
	})
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
			version = positions[key].Version
			rows := map[es.AggregateID]jsonRow{key: {}}
			if err := Load(ctx, tx, r.rows(), rows, primaryOf); err != nil {
				return err
			}
			row, err = r.rowOf(rows[key])
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

// jsonRow is a row as it is stored.
type jsonRow struct {
	Tenant  es.Tenant `db:"tenant_code"`
	ID      string    `db:"id"`
	Content string    `db:"content"`
}

func (r JSONRows[E, R]) rows() table.Table[jsonRow] { return table.Of[jsonRow](r.Table, 2) }

func (r JSONRows[E, R]) rowOf(stored jsonRow) (row R, err error) {
	if stored.Content != "" {
		err = json.Unmarshal([]byte(stored.Content), &row)
	}
	return row, err
}
