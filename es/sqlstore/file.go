package sqlstore

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/rowstore"
)

// File is an event store in a SQLite file. The file also has the tables that projections need, those of es/rowstore.
type File struct {
	*Gateway
	DB *sqlx.DB // of the file: for queues, rows and positions
}

// OpenFile opens a SQLite file, creates it if it is missing, and migrates its tables. Only one process may use the
// file. [File.Close] closes it.
func OpenFile(ctx context.Context, path string) (*File, error) {
	db, err := database.Open(ctx, "sqlite:"+path, database.Settings{})
	if err != nil {
		return nil, err
	}
	gateway, err := New(db, Settings{Clock: time.Now, Logger: slog.Default()})
	if err == nil {
		_, err = migration.Up(ctx, db, Schema(), rowstore.Schema())
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &File{gateway, db}, nil
}

// Close completes the accepted writes and closes the file.
func (f *File) Close(ctx context.Context) error {
	return errors.Join(f.Gateway.Close(ctx), f.DB.Close())
}
