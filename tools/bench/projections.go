package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/domain/thread"
	"example.com/threads/es/database"
	"example.com/threads/es/sqlstore"
)

// projections measures how the standalone program projects a whole journal, from its queue and in a rebuild beside the
// live rows.
func projections(ctx context.Context, labs []*lab) (found []reading, err error) {
	events := make([]float64, len(labs))
	for i, l := range labs {
		if events[i], err = l.fillJournal(ctx); err != nil {
			return nil, err
		}
	}
	return repeated(labs, func(_, i int) ([]reading, error) { return labs[i].project(ctx, events[i]) })
}

// fillJournal returns the number of events in the journal of the program, which is stopped again. They are enough to
// make reading them most of a rebuild's time: starting the program, verifying a sample and switching take the same few
// hundred milliseconds for a journal of any size.
func (l *lab) fillJournal(ctx context.Context) (events float64, err error) {
	system, err := l.start(ctx)
	if err != nil {
		return 0, err
	}
	defer system.stop()
	user := ulid.Make().String()
	threads, err := system.newThreads(ctx, user, 1000)
	if err != nil {
		return 0, err
	}
	done, err := system.post(ctx, job{user: user, clients: mostClients, threads: threads, duration: 9 * l.duration, blind: true})
	return float64(done.posted + len(threads)), err
}

// project projects the journal of so many events in both ways.
func (l *lab) project(ctx context.Context, events float64) ([]reading, error) {
	// The program is ready when it has caught up: first with nothing to do, then with everything.
	var system *runningSystem
	var took [2]time.Duration
	for i := range took {
		if i == 1 {
			if err := removeReadModel(system.data); err != nil {
				return nil, err
			}
		}
		begun := time.Now()
		var err error
		if system, err = l.start(ctx); err != nil {
			return nil, err
		}
		defer system.stop()
		took[i] = time.Since(begun)
		if i == 0 {
			system.stop()
		}
	}
	projecting := max(took[1]-took[0], time.Millisecond)
	rebuilding, readingOnly, err := l.rebuilds(ctx, system)
	if err != nil {
		return nil, err
	}
	system.stop()
	inserted := filepath.Join(l.folder, "inserted.db")
	inserting, err := readAndInsert(ctx, system.journal(), inserted)
	if err != nil {
		return nil, err
	}
	return []reading{
		{"projection.throughput", "events/s", events / projecting.Seconds(), events / inserting.Seconds(), "reading the queue and inserting a row for each event", outside + meanwhile},
		{"projection.rebuild", "events/s", events / rebuilding.Seconds(), events / readingOnly.Seconds(), "reading the journal and doing nothing", outside + meanwhile},
	}, removeDatabase(inserted)
}

// rebuilds measures a rebuild beside the running program. The journal is read before and after it, so that slow changes
// affect both.
func (l *lab) rebuilds(ctx context.Context, system *runningSystem) (rebuilding, readingOnly time.Duration, err error) {
	syscall.Sync() // what was written before is not to be waited for
	before, err := readJournal(ctx, system.journal())
	if err != nil {
		return 0, 0, err
	}
	rebuild := exec.CommandContext(ctx, filepath.Join(l.binaries, "threadctl"), "rows", "rebuild")
	rebuild.Env = append(os.Environ(), "EVENT_STORE=sqlite", "EVENT_STORE_URL=sqlite:"+system.journal(), "DATABASE_URL=sqlite:"+system.readModel())
	begun := time.Now()
	if output, err := rebuild.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("threadctl rows rebuild: %w\n%s", err, output)
	}
	rebuilding = time.Since(begun)
	after, err := readJournal(ctx, system.journal())
	return rebuilding, (before + after) / 2, err
}

// journal returns the file of the program's events.
func (s *runningSystem) journal() string { return filepath.Join(s.data, "events.db") }

func removeReadModel(data string) error { return removeDatabase(filepath.Join(data, "readmodel.db")) }

// removeDatabase removes the files of a SQLite database.
func removeDatabase(file string) error {
	files, err := filepath.Glob(file + "*")
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

const insertAtOnce = 500

// readAndInsert reads the queue of events and inserts their ids and payloads into a table, in transactions of 500.
func readAndInsert(ctx context.Context, journal, file string) (time.Duration, error) {
	from, err := openSQLite(journal)
	if err != nil {
		return 0, err
	}
	defer func() { _ = from.Close() }()
	into, err := openSQLite(file)
	if err != nil {
		return 0, err
	}
	defer func() { _ = into.Close() }()
	if _, err := into.ExecContext(ctx, `CREATE TABLE rows (id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, data TEXT NOT NULL) WITHOUT ROWID`); err != nil {
		return 0, err
	}
	begun := time.Now()
	for position := int64(0); ; {
		var args []any
		if args, position, err = page(ctx, from, position); err != nil || len(args) == 0 {
			return time.Since(begun), err
		}
		marks := strings.TrimSuffix(strings.Repeat("(?, ?, ?),", len(args)/3), ",")
		if _, err := into.ExecContext(ctx, "INSERT INTO rows (id, thread_id, data) VALUES "+marks, args...); err != nil {
			return 0, err
		}
	}
}

// page reads the rows' values for the events after a position, and the position of the last one.
func page(ctx context.Context, from *sql.DB, after int64) (args []any, last int64, err error) {
	rows, err := from.QueryContext(ctx, `SELECT sequence_number, aggregate_id, event_id, event_content FROM events WHERE sequence_number > ?
		ORDER BY sequence_number LIMIT ?`, after, insertAtOnce)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var aggregate, id, content string
		if err := rows.Scan(&last, &aggregate, &id, &content); err != nil {
			return nil, 0, err
		}
		args = append(args, id, aggregate, content)
	}
	return args, last, rows.Err()
}

func openSQLite(file string) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", "file:"+url.PathEscape(file)+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// readJournal reads every event of every thread, like a rebuild, and discards it.
func readJournal(ctx context.Context, file string) (_ time.Duration, err error) {
	db, err := database.Open(ctx, "sqlite:"+file, database.Settings{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	store, err := sqlstore.New(ctx, db, sqlstore.Settings{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	begun := time.Now()
	for head, err := range store.Heads(ctx, thread.AggregateType) {
		if err != nil {
			return 0, err
		}
		for _, err := range store.Entries(ctx, head.ID, 0, head.Version) {
			if err != nil {
				return 0, err
			}
		}
	}
	return time.Since(begun), nil
}
