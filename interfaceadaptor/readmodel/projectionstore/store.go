package projectionstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/interfaceadaptor/sqldialect"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// Store implements [projection.Store] and [projection.Checkpoints] for one projection in a relational database.
type Store struct {
	db         *sqlx.DB
	dialect    sqldialect.Dialect
	projection string
}

// New returns the store of the named projection (at most 64 characters). The database must have the tables.
func New(db *sqlx.DB, name string) (*Store, error) {
	dialect, err := sqldialect.Of(db)
	if err != nil {
		return nil, err
	}
	return &Store{db: db, dialect: dialect, projection: name}, nil
}

// Change implements [projection.Store].
func (s *Store) Change(ctx context.Context, change func(context.Context, projection.Tx) error) (err error) {
	begun, err := s.db.BeginTxx(ctx, s.dialect.Writing())
	if err != nil {
		return s.explain("begin a transaction", err)
	}
	committed := false
	defer func() {
		if !committed {
			// The original error is returned. A failed rollback means a lost connection, which ends the transaction
			// too.
			_ = begun.Rollback()
		}
	}()
	if err := change(ctx, &Tx{Tx: begun, Dialect: s.dialect, store: s, existing: make(map[usecase.Key]bool)}); err != nil {
		return err
	}
	committed = true
	return s.explain("commit", begun.Commit())
}

// Versions implements [projection.Store].
func (s *Store) Versions(ctx context.Context, keys []usecase.Key) (map[usecase.Key]uint64, error) {
	versions, err := Versions(ctx, s.db, s.projection, keys)
	return versions, s.explain("read positions", err)
}

// Parked implements [projection.Store].
func (s *Store) Parked(ctx context.Context, now time.Time, limit int) ([]projection.DeadLetter, error) {
	query := "SELECT " + strings.Join(deadLetters.Columns, ", ") + " FROM dead_letters WHERE projection = ? AND retry_at <= ? ORDER BY retry_at LIMIT ?"
	var letters []projection.DeadLetter
	err := deadLetters.Query(ctx, s.db, func(row letterRow) { letters = append(letters, row.read()) }, query, s.projection, now.UnixMicro(), limit)
	return letters, s.explain("read dead letters", err)
}

// RetryNow implements [projection.Store].
func (s *Store) RetryNow(ctx context.Context, now time.Time) error {
	_, err := s.db.ExecContext(ctx, "UPDATE dead_letters SET retry_at = ? WHERE projection = ? AND retry_at > ?", now.UnixMicro(), s.projection, now.UnixMicro())
	return s.explain("make dead letters due", err)
}

// Types implements [projection.Store].
func (s *Store) Types(ctx context.Context) ([]projection.Type, error) {
	var types []projection.Type
	err := aggregateTypes.Query(ctx, s.db, func(row typeRow) {
		if row.First.ID != "" {
			row.First.Type = row.Name
		}
		types = append(types, row.Type)
	}, "SELECT "+strings.Join(aggregateTypes.Columns, ", ")+" FROM projection_types WHERE projection = ?", s.projection)
	return types, s.explain("read aggregate types", err)
}

// Checkpoints implements [projection.Checkpoints].
func (s *Store) Checkpoints(ctx context.Context, source string) ([]projection.Checkpoint, error) {
	found := []projection.Checkpoint{}
	err := checkpoints.Query(ctx, s.db, func(row checkpointRow) { found = append(found, row.Checkpoint) },
		"SELECT "+strings.Join(checkpoints.Columns, ", ")+" FROM checkpoints WHERE projection = ? AND source = ?", s.projection, source)
	return found, s.explain("read checkpoints", err)
}

// Forget implements [projection.Checkpoints].
func (s *Store) Forget(ctx context.Context, source string, shards ...string) error {
	keys := make([][]string, len(shards))
	for i, shard := range shards {
		keys[i] = []string{s.projection, source, shard}
	}
	return s.explain("forget checkpoints", checkpoints.Delete(ctx, s.db, keys))
}

// CountParked returns the number of parked aggregates.
func (s *Store) CountParked(ctx context.Context) (parked int, err error) {
	err = s.db.GetContext(ctx, &parked, "SELECT COUNT(*) FROM dead_letters WHERE projection = ?", s.projection)
	return parked, s.explain("count the parked aggregates", err)
}

// Explain adds what failed and classifies the error for the projection; nil stays nil.
func (s *Store) Explain(doing string, err error) error { return s.explain(doing, err) }

func (s *Store) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	switch s.dialect.Classify(err) {
	case sqldialect.Transient:
		return fmt.Errorf("%s: %w: %w", doing, projection.ErrTransient, err)
	case sqldialect.Refused, sqldialect.Duplicate:
		return fmt.Errorf("%s: %w: %w", doing, projection.ErrRefused, err)
	case sqldialect.Fault, sqldialect.Ended:
	}
	return fmt.Errorf("%s: %w", doing, err)
}
