package database_test

import (
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/database"
)

// A program for many databases starts while one is down.
func TestADatabaseThatAnswersLater(t *testing.T) {
	db, err := database.Open(t.Context(), "root@tcp(127.0.0.1:1)/a", database.Settings{Later: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(t.Context(), "SELECT 1")
	if err = database.Explain("read", err); es.KindOf(err) != es.Unavailable {
		t.Errorf("%v", err)
	}
}
