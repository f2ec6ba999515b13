package erasure

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/rowstore/table"
)

// relationalStore stores keys in the database of a relational event store.
type relationalStore struct{ db *sqlx.DB }

// NewRelationalStore returns a store over the database of a relational event store, with the table of [Schema].
func NewRelationalStore(ctx context.Context, db *sqlx.DB) (Store, error) {
	if err := migration.Check(ctx, db, Schema()); err != nil {
		return nil, fmt.Errorf("EVENT_STORE_URL: %w", err)
	}
	return relationalStore{db}, nil
}

type keyRow struct {
	Tenant   es.Tenant `db:"tenant_code"`
	Owner    string    `db:"owner_id"`
	Wrapped  []byte    `db:"wrapped"`
	ErasedAt int64     `db:"erased_at"`
}

var keyRows = table.Of[keyRow]("personal_keys", 2)

func (s relationalStore) Keys(ctx context.Context, tenant es.Tenant, owners []string) (map[string]Entry, error) {
	found := make(map[string]Entry, len(owners))
	keys := make([][]string, len(owners))
	for i, owner := range owners {
		keys[i] = []string{tenant.String(), owner}
	}
	err := keyRows.Load(ctx, s.db, keys, "", func(row keyRow) {
		found[row.Owner] = Entry{Wrapped: row.Wrapped}
		if row.ErasedAt != 0 {
			found[row.Owner] = Entry{ErasedAt: time.UnixMicro(row.ErasedAt).UTC()}
		}
	})
	return found, database.Explain("read keys", err)
}

func (s relationalStore) Create(ctx context.Context, tenant es.Tenant, owner string, wrapped []byte) (Entry, error) {
	_, err := s.db.ExecContext(ctx, insertKey, tenant.String(), owner, wrapped, 0)
	if err != nil && !database.IsDuplicate(err) {
		return Entry{}, database.Explain("store a key", err)
	}
	found, err := s.Keys(ctx, tenant, []string{owner})
	return found[owner], err
}

const insertKey = "INSERT INTO personal_keys (tenant_code, owner_id, wrapped, erased_at) VALUES (?, ?, ?, ?)"

// Destroy implements [Store]. On SQLite, it overwrites the key's bytes in the database file and empties the
// write-ahead log. While another connection reads from the log, it fails and must be retried.
func (s relationalStore) Destroy(ctx context.Context, tenant es.Tenant, owner string, at time.Time) (err error) {
	defer func() { err = database.Explain("destroy a key", err) }()
	conn, err := s.db.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	isSQLite := s.db.DriverName() == database.SQLite
	if isSQLite {
		if _, err := conn.ExecContext(ctx, "PRAGMA secure_delete = ON"); err != nil {
			return err
		}
	}
	_, err = conn.ExecContext(ctx, insertKey, tenant.String(), owner, []byte{}, at.UnixMicro())
	if database.IsDuplicate(err) { // usually the owner has a key or a tombstone already
		_, err = conn.ExecContext(ctx, "UPDATE personal_keys SET wrapped = ?, erased_at = ? WHERE tenant_code = ? AND owner_id = ? AND erased_at = 0",
			[]byte{}, at.UnixMicro(), tenant.String(), owner)
	}
	if err != nil || !isSQLite {
		return err
	}
	var left struct{ Busy, Log, Checkpointed int }
	err = conn.GetContext(ctx, &left, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err == nil && left.Busy != 0 {
		err = fmt.Errorf("another connection reads from the write-ahead log: %w", es.ErrUnavailable)
	}
	return err
}

//go:embed migrations
var migrations embed.FS

// Schema returns the migrations of the keys' table, which is in the database of a relational event store.
func Schema() migration.Set {
	return migration.Set{Name: "keys of people", Table: "erasure_migrations", Files: migrations, Folder: "migrations"}
}
