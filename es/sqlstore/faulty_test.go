package sqlstore_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	sqlite "github.com/ncruces/go-sqlite3/driver"
)

// faultyDriver is a SQLite driver that can fail at a COMMIT, before or after executing it.
type faultyDriver struct {
	dsn string

	mutex  sync.Mutex
	lose   func() // called after losing the answer to a COMMIT; nil: answers are not lost
	refuse int    // the number of COMMITs to refuse
}

// openFaulty creates an event store behind a fault.
func openFaulty(t *testing.T) (*sqlx.DB, *faultyDriver) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.db")
	open(t, "sqlite:"+path)
	f := &faultyDriver{dsn: "file:" + url.PathEscape(path) + "?_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)"}
	db := sqlx.NewDb(sql.OpenDB(f), "sqlite")
	t.Cleanup(func() { _ = db.Close() })
	return db, f
}

func (f *faultyDriver) loseNextCommit(lost func()) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.lose = lost
}

func (f *faultyDriver) takeLoss() func() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	lost := f.lose
	f.lose = nil
	return lost
}

func (f *faultyDriver) refuseCommits(count int) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.refuse = count
}

func (f *faultyDriver) takeRefusal() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.refuse--
	return f.refuse >= 0
}

func (f *faultyDriver) Driver() driver.Driver { return &sqlite.SQLite{} }

func (f *faultyDriver) Connect(context.Context) (driver.Conn, error) {
	conn, err := f.Driver().Open(f.dsn)
	if err != nil {
		return nil, err
	}
	return faultyConn{conn.(fullConn), f}, nil
}

type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.ConnPrepareContext
}

type faultyConn struct {
	fullConn
	fault *faultyDriver
}

func (c faultyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	commits := query == "COMMIT"
	if commits && c.fault.takeRefusal() {
		return nil, errors.New("disk I/O error")
	}
	result, err := c.fullConn.ExecContext(ctx, query, args)
	if !commits || err != nil {
		return result, err
	}
	if lost := c.fault.takeLoss(); lost != nil {
		lost()
		return nil, errors.New("disk I/O error")
	}
	return result, nil
}
