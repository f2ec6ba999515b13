package sqlstore_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/sqlstore"
)

func TestSettingsAreChecked(t *testing.T) {
	db := openSQLite(t)
	good := sqlstore.Settings{Clock: time.Now, Logger: slog.New(slog.DiscardHandler)}
	for want, spoil := range map[string]func(*sqlstore.Settings){
		"must not be negative":    func(s *sqlstore.Settings) { s.SnapshotKeep = -1 },
		"a clock and a logger":    func(s *sqlstore.Settings) { s.Clock = nil },
		"two or more connections": func(*sqlstore.Settings) { db.SetMaxOpenConns(1) },
	} {
		db.SetMaxOpenConns(2)
		bad := good
		spoil(&bad)
		if _, err := sqlstore.New(db, bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
