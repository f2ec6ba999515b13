package queryreader_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// readings are the ways in which a reader queries the database.
var readings = map[string]func(ctx context.Context, reader *queryreader.Reader, viewer query.Viewer, id thread.ID) error{
	"a row": func(ctx context.Context, reader *queryreader.Reader, viewer query.Viewer, id thread.ID) error {
		_, err := reader.Thread(ctx, viewer, id)
		return err
	},
	"a list": func(ctx context.Context, reader *queryreader.Reader, viewer query.Viewer, _ thread.ID) error {
		_, err := reader.Threads(ctx, viewer, query.Range{Limit: 1})
		return err
	},
	"versions": func(ctx context.Context, reader *queryreader.Reader, viewer query.Viewer, id thread.ID) error {
		_, err := reader.Versions(ctx, []es.AggregateID{chat.ThreadKey(viewer.Tenant, id)})
		return err
	},
}

// failing is a database whose every statement fails.
type failing struct{ err error }

func (f failing) Connect(context.Context) (driver.Conn, error) { return nil, f.err }

func (f failing) Driver() driver.Driver { return nil }

func TestWhatAskingAgainMayCureIsUnavailable(t *testing.T) {
	answer := func(number uint16, state string) error {
		said := &mysql.MySQLError{Number: number, Message: "as the server words it"}
		copy(said.SQLState[:], state)
		return said
	}
	for name, test := range map[string]struct {
		err       error
		available bool
	}{
		"too many connections":         {err: answer(1040, "08004")},
		"changed since it was read":    {err: answer(1020, "HY000")},
		"connection killed":            {err: answer(1927, "70100")},
		"connection lost":              {err: answer(1159, "08S01")},
		"time limit of MariaDB":        {err: answer(1969, "70100")},
		"time limit of MySQL":          {err: answer(3024, "HY000")},
		"a missing table":              {err: answer(1146, "42S02"), available: true},
		"data that can't be converted": {err: answer(1292, "22007"), available: true},
		"the caller has disconnected":  {err: context.Canceled, available: true},
		"the caller's time is over":    {err: context.DeadlineExceeded, available: true},
	} {
		t.Run(name, func(t *testing.T) {
			db := sqlx.NewDb(sql.OpenDB(failing{test.err}), database.MySQL)
			defer func() { _ = db.Close() }()
			for what, read := range readings {
				err := read(t.Context(), readmodeltest.NewReader(t, db), query.Viewer{}, thread.ID{})
				if !errors.Is(err, test.err) || errors.Is(err, es.ErrUnavailable) == test.available {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

func TestAConnectionKilledUnderAQueryIsUnavailable(t *testing.T) {
	db := readmodeltest.MySQL(t)
	w := db.World(t, "acme")
	alice := readmodeltest.NewUser()
	id := w.Thread("chat", alice)
	// With one connection it is clear which one to kill.
	single, err := database.Open(t.Context(), db.URL, database.Settings{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = single.Close() }()
	reader := readmodeltest.NewReader(t, single)

	for what, read := range readings {
		t.Run(what, func(t *testing.T) {
			var connection int
			if err := single.GetContext(t.Context(), &connection, "SELECT CONNECTION_ID()"); err != nil {
				t.Fatal(err)
			}
			defer lockThreads(t, db.DB)() // statements on threads must wait
			answer := make(chan error, 1)
			go func() { answer <- read(t.Context(), reader, query.Viewer{Tenant: w.Tenant, User: alice}, id) }()
			testenv.Eventually(t, 10*time.Second, func() error {
				var waiting int
				err := db.DB.GetContext(t.Context(), &waiting,
					"SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND state LIKE 'Waiting for table%'", connection)
				if err == nil && waiting == 0 {
					err = errors.New("the statement does not wait yet")
				}
				return err
			})
			if _, err := db.DB.ExecContext(t.Context(), "KILL ?", connection); err != nil {
				t.Fatal(err)
			}
			if err := <-answer; !errors.Is(err, es.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// lockThreads locks the threads and their positions until unlock is called.
func lockThreads(t *testing.T, db *sqlx.DB) (unlock func()) {
	t.Helper()
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "LOCK TABLES threads WRITE, projection_positions WRITE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
			t.Error(err)
		}
		_ = conn.Close()
	}
}
