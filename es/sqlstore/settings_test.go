package sqlstore_test

import (
	"strings"
	"testing"

	"example.com/threads/es/sqlstore"
)

func TestSettingsAreChecked(t *testing.T) {
	db := openSQLite(t)
	for want, spoil := range map[string]func(*sqlstore.Settings){
		"must not be negative":    func(s *sqlstore.Settings) { s.SnapshotKeep = -1 },
		"two or more connections": func(*sqlstore.Settings) { db.SetMaxOpenConns(1) },
	} {
		db.SetMaxOpenConns(2)
		var bad sqlstore.Settings
		spoil(&bad)
		if _, err := sqlstore.New(t.Context(), db, bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
