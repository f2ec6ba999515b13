// Package erasure makes it possible to erase a person's texts. It seals texts with a key of their author, opens them
// for those who may read them, and destroys the key. Only sealed texts are stored and passed on, so destroying the key
// erases the text everywhere. A [Keyring] does this with a [Store] of wrapped keys and a [Master] key.
//
// A keyring wraps what the programs have: [Keyring.Commands], [Keyring.Answers], [Keyring.Reader], [Keyring.Broker].
package erasure

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/infrastructure/config"
	"example.com/threads/usecase/chat"
)

// Store stores the wrapped keys of owners by tenant and owner. All methods may be called concurrently, from any number
// of processes. After an error of the kind unavailable a retry may succeed; others are faults.
type Store interface {
	// Keys returns the existing entries of the owners, read consistently. The owners are all different.
	Keys(ctx context.Context, tenant es.Tenant, owners []string) (map[string]Entry, error)
	// Create stores a key for an owner without an entry, and returns the stored one: the same to concurrent callers.
	Create(ctx context.Context, tenant es.Tenant, owner string, wrapped []byte) (Entry, error)
	// Destroy replaces the owner's key, if any, by a permanent tombstone. The time of the first call is kept. When it
	// returns, the key is no longer in the store's own files, if the store controls them.
	Destroy(ctx context.Context, tenant es.Tenant, owner string, at time.Time) error
}

// Entry is the wrapped key of an owner or, with ErasedAt, a tombstone.
type Entry struct {
	Wrapped  []byte
	ErasedAt time.Time // zero: not erased
}

// Master wraps keys with the master key. about is authenticated with the key: unwrapping needs the same text.
type Master interface {
	Wrap(ctx context.Context, key []byte, about string) ([]byte, error)
	Unwrap(ctx context.Context, wrapped []byte, about string) ([]byte, error)
}

// Erased replaces an erased text, as it replaces the name in the row of an erased account.
const Erased = chat.ErasedName

var (
	// ErrOff: there is no keyring, because erasure is off.
	ErrOff = errors.New("this program has no keys of people: set ERASURE=on and the master key that texts were sealed under")
	// ErrMissingKey: a text is sealed with a key that is not in the store, although its owner was not erased.
	ErrMissingKey = errors.New("a key is missing in the key store, and was not erased: bring the key store back from a backup")
)

// Settings are read from the environment.
type Settings struct {
	On       bool
	KeyTable string
	// Exactly one of these is set.
	Key    string // secret
	File   string
	KMSKey string
	// MakeFile creates the key file if it does not exist and nobody has a key.
	MakeFile bool
}

const oneOf = "with ERASURE=on, set one of ERASURE_KEY, ERASURE_KEY_FILE and ERASURE_KMS_KEY: "

// ReadSettings reads them. fallback is the default of the master key's file, created if missing; empty: there is none.
func ReadSettings(r *config.Reader, fallback string) (s Settings) {
	r = r.Group("Forgetting a person (extras/erasure)")
	s.On, s.KeyTable = ReadPlace(r)
	s.Key = r.Secret("ERASURE_KEY", oneOf+"master key, base64 of 32 bytes; keys that it has replaced may follow, separated by commas", func(text string) error {
		if text == "" {
			return nil
		}
		_, err := ParseMaster(text)
		return err
	})
	s.File = r.String("ERASURE_KEY_FILE", "", oneOf+"file with the same")
	s.KMSKey = r.String("ERASURE_KMS_KEY", "", oneOf+"id, ARN or alias of a key in AWS KMS")
	named := len(slices.DeleteFunc([]string{s.Key, s.File, s.KMSKey}, func(setting string) bool { return setting == "" }))
	switch {
	case s.On && named == 0 && fallback != "":
		s.File, s.MakeFile = fallback, true
	case s.On && named != 1:
		r.Wrong("ERASURE is on, which needs exactly one of ERASURE_KEY, ERASURE_KEY_FILE and ERASURE_KMS_KEY")
	}
	return s
}

// ReadPlace reads whether erasure is on, and the name of the DynamoDB table of keys.
func ReadPlace(r *config.Reader) (on bool, table string) {
	on = r.OneOf("ERASURE", "whether texts and names are sealed, so that a person can be forgotten", "off", "on") == "on"
	return on, r.String("KEY_TABLE", "personal-keys", "with ERASURE=on and dynamodb: table of people's keys")
}

// Open returns a keyring over the keys in a relational event store's database; nil: erasure is off. See also awskeys.
func Open(ctx context.Context, s Settings, db *sqlx.DB) (*Keyring, error) {
	if !s.On {
		return nil, nil
	}
	keys, keysErr := NewRelationalStore(ctx, db)
	if s.MakeFile && keysErr == nil {
		wrapped := 0
		keysErr = db.GetContext(ctx, &wrapped, "SELECT COUNT(*) FROM personal_keys WHERE erased_at = 0")
		s.MakeFile = wrapped == 0 // a new master key could not unwrap them
	}
	master, err := s.Master()
	return NewKeyring(keys, master, time.Now), errors.Join(keysErr, err)
}

// Master returns the master key of a setting or a file.
func (s Settings) Master() (Master, error) {
	switch {
	case s.KMSKey != "":
		return nil, errors.New("ERASURE_KMS_KEY: this program has no client of AWS KMS; set ERASURE_KEY or ERASURE_KEY_FILE")
	case s.Key != "":
		return ParseMaster(s.Key)
	}
	return ReadMaster(s.File, s.MakeFile)
}

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

// Destroy implements [Store]. On SQLite, whose connections overwrite what they delete, it empties the
// write-ahead log. While another connection reads from the log, it fails and must be retried.
func (s relationalStore) Destroy(ctx context.Context, tenant es.Tenant, owner string, at time.Time) (err error) {
	defer func() { err = database.Explain("destroy a key", err) }()
	conn, err := s.db.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.ExecContext(ctx, insertKey, tenant.String(), owner, []byte{}, at.UnixMicro())
	if database.IsDuplicate(err) { // usually the owner has a key or a tombstone already
		_, err = conn.ExecContext(ctx, "UPDATE personal_keys SET wrapped = ?, erased_at = ? WHERE tenant_code = ? AND owner_id = ? AND erased_at = 0",
			[]byte{}, at.UnixMicro(), tenant.String(), owner)
	}
	if err != nil || s.db.DriverName() != database.SQLite {
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
