package database_test

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/ncruces/go-sqlite3"

	"example.com/threads/es"
	"example.com/threads/es/database"
)

// sharedFile opens a SQLite file twice, as two programs do.
func sharedFile(t *testing.T, parameters string) (one, other *sqlx.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	for _, db := range []**sqlx.DB{&one, &other} {
		opened, err := database.Open(t.Context(), "file:"+url.PathEscape(path)+parameters, database.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = opened.Close() })
		*db = opened
	}
	return one, other
}

func begin(t *testing.T, db *sqlx.DB) *sqlx.Tx {
	t.Helper()
	tx, err := db.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// One that writes long transactions, with a short pause between two, must not keep others out.
func TestATransactionBeginsBetweenLongOnes(t *testing.T) {
	busy, db := sharedFile(t, "")
	ctx, stop := context.WithCancel(t.Context())
	begun := make(chan struct{})
	var count atomic.Int64
	var working sync.WaitGroup
	working.Go(func() {
		for ctx.Err() == nil {
			tx := begin(t, busy)
			count.Add(1)
			select {
			case begun <- struct{}{}:
			default:
			}
			_ = es.Wait(ctx, 400*time.Millisecond)
			_ = tx.Rollback()
			_ = es.Wait(ctx, 20*time.Millisecond)
		}
	})
	for turn := range 5 {
		<-begun
		before := count.Load()
		_ = begin(t, db).Rollback()
		if waited := count.Load() - before; waited > 3 {
			t.Errorf("turn %d came after %d transactions of the other", turn, waited)
		}
	}
	stop()
	working.Wait()
}

func TestATransactionWaitsAsLongAsTheTimeoutSays(t *testing.T) {
	holder, db := sharedFile(t, "?_pragma=busy_timeout(77)")
	tx := begin(t, holder)
	began := time.Now()
	_, err := db.Beginx()
	if waited := time.Since(began); !errors.Is(err, sqlite3.BUSY) || waited < 77*time.Millisecond {
		t.Errorf("after %s: %v", waited, err)
	}
	var timeout int
	if err := db.GetContext(t.Context(), &timeout, "PRAGMA busy_timeout"); err != nil || timeout != 77 {
		t.Errorf("busy_timeout is %d afterwards, %v", timeout, err)
	}
	_ = tx.Rollback()
	_ = begin(t, db).Rollback()
}

func TestWaitingForTheLockEndsWithTheContext(t *testing.T) {
	holder, db := sharedFile(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	tx := begin(t, holder)
	if _, err := db.BeginTxx(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	_ = tx.Rollback()
	_ = begin(t, db).Rollback()
}
