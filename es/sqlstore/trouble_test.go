package sqlstore_test

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/threads/es"
)

// The size of the file is limited here, which SQLite reports as it reports a full disk.
func TestAFullDiskIsReportedUntilThereIsRoom(t *testing.T) {
	gateway := newGateway(t, open(t, "file:"+filepath.Join(t.TempDir(), "events.db")+"?_pragma=max_page_count(200)"))
	if err := gateway.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := mustAppend(t, gateway, write(newID(), 0, 1))
	file := es.File{Owner: "ada", Name: "file", Expires: time.Now().Add(time.Hour)}
	content := make([]byte, 50<<10)
	var err error
	for part := uint64(0); err == nil && part < 100; part++ {
		_, _ = rand.Read(content)
		err = gateway.PutParts(t.Context(), file, part, content)
	}
	if !errors.Is(err, es.ErrFull) || !errors.Is(err, es.ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	for range 2 {
		if err := gateway.Check(t.Context()); !errors.Is(err, es.ErrFull) {
			t.Errorf("the check says %v", err)
		}
	}
	if err := gateway.DeleteFile(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if err := gateway.Check(t.Context()); err != nil {
		t.Errorf("with room again: %v", err)
	}
	mustAppend(t, gateway, write(w.ID, 1, 1))
}

// A file that is cut in half: what is missing is noticed when it is read, and reported from then on. Nothing is written
// any more, even where no damaged page is needed: a restored backup would lack it.
func TestDamagedDataIsReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	db := open(t, "sqlite:"+path)
	gateway := newGateway(t, db)
	var ids []es.AggregateID
	for range 100 {
		ids = append(ids, mustAppend(t, gateway, write(newID(), 0, 20)).ID)
	}
	if _, err := db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, file.Size()/2); err != nil {
		t.Fatal(err)
	}
	broken := false
	for _, id := range ids {
		for _, err := range gateway.Entries(t.Context(), id, 0, 20) {
			broken = broken || errors.Is(err, es.ErrDamaged)
		}
	}
	if err := gateway.Check(t.Context()); !broken || !errors.Is(err, es.ErrDamaged) {
		t.Errorf("nothing is broken: %v; the check says %v", !broken, err)
	}
	if err := gateway.Append(t.Context(), write(newID(), 0, 1)); !errors.Is(err, es.ErrDamaged) || es.KindOf(err) != es.Unavailable {
		t.Errorf("a write ends with %v, of kind %v", err, es.KindOf(err))
	}
}
