package projectionstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/interfaceadaptor/readmodel/internal/rowkey"
	"example.com/threads/interfaceadaptor/sqldialect"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// Store is the [projection.ReadModel] and the [projection.Checkpoints] in a relational database.
type Store struct {
	db      *sqlx.DB
	dialect sqldialect.Dialect
}

// New makes a store on a database that has the read model's tables.
func New(db *sqlx.DB) (*Store, error) {
	dialect, err := sqldialect.Of(db)
	if err != nil {
		return nil, err
	}
	return &Store{db: db, dialect: dialect}, nil
}

// Change implements [projection.ReadModel].
func (s *Store) Change(ctx context.Context, change func(context.Context, projection.Tx) error) (err error) {
	begun, err := s.db.BeginTxx(ctx, s.dialect.Writing())
	if err != nil {
		return s.classified("begin a transaction", err)
	}
	committed := false
	defer func() {
		if !committed {
			// What made it fail is the error to tell. A rollback that fails has lost its connection, and that ends it, too.
			_ = begun.Rollback()
		}
	}()
	if err := change(ctx, &tx{tx: begun, store: s, existing: make(map[usecase.Key]bool)}); err != nil {
		return err
	}
	committed = true
	if err := begun.Commit(); err != nil {
		return s.classified("commit", err)
	}
	return nil
}

// Versions implements [projection.ReadModel].
func (s *Store) Versions(ctx context.Context, keys []usecase.Key) (map[usecase.Key]uint64, error) {
	versions, err := rowkey.Versions(ctx, s.db, keys, keysAtOnce)
	if err != nil {
		return nil, s.classified("read versions of threads", err)
	}
	return versions, nil
}

// Parked implements [projection.ReadModel].
func (s *Store) Parked(ctx context.Context, now time.Time, limit int) ([]projection.DeadLetter, error) {
	var found []deadLetterRecord
	query := "SELECT " + list(deadLetters.columns) + " FROM dead_letters WHERE retry_at <= ? ORDER BY retry_at LIMIT ?"
	if err := s.db.SelectContext(ctx, &found, query, now.UnixMicro(), limit); err != nil {
		return nil, s.classified("read dead letters", err)
	}
	letters := make([]projection.DeadLetter, len(found))
	for i, record := range found {
		letter, err := record.row()
		if err != nil {
			return nil, err
		}
		letters[i] = letter
	}
	return letters, nil
}

// RetryNow implements [projection.ReadModel].
func (s *Store) RetryNow(ctx context.Context, now time.Time) error {
	if _, err := s.db.ExecContext(ctx, "UPDATE dead_letters SET retry_at = ? WHERE retry_at > ?", now.UnixMicro(), now.UnixMicro()); err != nil {
		return s.classified("make dead letters due", err)
	}
	return nil
}

// classified says what was being done when err came, and what the projection can do about it.
func (s *Store) classified(doing string, err error) error {
	switch s.dialect.Classify(err) {
	case sqldialect.Transient:
		return fmt.Errorf("%s: %w: %w", doing, projection.ErrTransient, err)
	case sqldialect.Refused, sqldialect.Duplicate:
		return fmt.Errorf("%s: %w: %w", doing, projection.ErrRefused, err)
	case sqldialect.Fault, sqldialect.Ended:
	}
	return fmt.Errorf("%s: %w", doing, err)
}
