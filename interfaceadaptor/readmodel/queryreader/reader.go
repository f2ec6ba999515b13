// Package queryreader implements the ports of usecase/query with SQL on the tables that the projection writes. The same
// statements run on MySQL, MariaDB and SQLite.
//
// Every statement is restricted to the tenant. A page is found by its position, not by counting rows. The pages of
// several lists are read in one statement that reads no more rows than it returns (pages.go).
package queryreader

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/usecase/query"
)

// Reader reads the read model. It implements the ports of usecase/query and is safe for concurrent use.
type Reader struct {
	db *sqlx.DB
}

var _ query.Reader = (*Reader)(nil)

// New returns a reader of the read model in db.
func New(db *sqlx.DB) *Reader { return &Reader{db} }

// One reads one row; if there is none it returns the error missing.
func One[R any](ctx context.Context, r *Reader, of table.Table[R], missing error, statement string, args ...any) (found R, err error) {
	exists := false
	if err := of.Query(ctx, r.db, func(row R) { found, exists = row, true }, statement, args...); err != nil {
		return found, r.explain("read the read model", err)
	}
	if !exists {
		return found, missing
	}
	return found, nil
}

// Versions returns the version of each aggregate that the read model has, for a [projection.Watcher].
func (r *Reader) Versions(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error) {
	versions, err := rowstore.Versions(ctx, r.db, chatrows.Projection, keys)
	if err != nil {
		return nil, r.explain("read versions of the read model", err)
	}
	return versions, nil
}

// explain adds what failed, and wraps [es.ErrUnavailable] if a retry may succeed: after a conflict, or after a
// statement that the database aborted. The error of an ended context is not changed.
func (r *Reader) explain(doing string, err error) error {
	if database.IsTransient(err) {
		return fmt.Errorf("%s: %w: %w", doing, es.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
