// Package outbox stores the commands that process managers have yet to send, on MySQL, MariaDB and SQLite, beside the
// positions of the process (rowstore).
package outbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
)

// Outbox is the [process.Outbox] of one process.
type Outbox struct {
	db      *sqlx.DB
	store   *rowstore.Store
	process string
}

var _ process.Outbox = (*Outbox)(nil)

// New returns the outbox of a process whose positions are in store, on the same database.
func New(db *sqlx.DB, store *rowstore.Store, name string) *Outbox {
	return &Outbox{db: db, store: store, process: name}
}

type row struct {
	process string
	process.Pending
}

var commands = table.Table[row]{
	Name: "process_commands", Key: 5,
	Columns: []string{
		"process", "tenant_code", "aggregate_type", "aggregate_id", "event_id", "name", "executor_id", "causation_id", "correlation_id",
		"attempts", "reason", "due_at", "failing_since",
	},
	ID: func(r *row) []string { return keyOf(r.process, r.Target, r.EventID) },
	Fields: func(r *row) []any {
		return []any{
			&r.process, table.Tenant(&r.Target.Tenant), &r.Target.Type, &r.Target.ID, &r.EventID, &r.Name, &r.Executor, &r.CausationID, &r.CorrelationID,
			&r.Attempts, &r.Reason, table.Time(&r.DueAt), table.Time(&r.FailingSince),
		}
	},
}

func keyOf(name string, target es.AggregateID, eventID string) []string {
	return []string{name, target.Tenant.String(), target.Type, target.ID, eventID}
}

func (o *Outbox) key(target es.AggregateID, eventID string) []string {
	return keyOf(o.process, target, eventID)
}

// Add implements [process.Outbox].
func (o *Outbox) Add(ctx context.Context, tx projection.Tx, added []process.Command) error {
	in, err := rowstore.SQL(tx)
	if err != nil {
		return err
	}
	rows := make([]row, len(added))
	for i, command := range added {
		rows[i] = row{o.process, process.Pending{Command: command, DueAt: time.Now(), FailingSince: time.UnixMicro(0)}}
	}
	return in.Explain("keep commands of a process", commands.Upsert(ctx, in, in.Dialect, rows))
}

// Due implements [process.Outbox].
func (o *Outbox) Due(ctx context.Context, now time.Time, limit int) ([]process.Pending, error) {
	var due []process.Pending
	err := commands.Query(ctx, o.db, func(r row) { due = append(due, r.Pending) },
		"SELECT "+strings.Join(commands.Columns, ", ")+" FROM process_commands WHERE process = ? AND due_at <= ? ORDER BY due_at LIMIT ?",
		o.process, now.UnixMicro(), limit)
	return due, o.store.Explain("read the commands of a process", err)
}

// Done implements [process.Outbox].
func (o *Outbox) Done(ctx context.Context, done []process.Command) error {
	keys := make([][]string, len(done))
	for i, command := range done {
		keys[i] = o.key(command.Target, command.EventID)
	}
	return o.store.Explain("take commands of a process away", commands.Delete(ctx, o.db, keys))
}

const reasonKept = 2000 // code points

// Postpone implements [process.Outbox].
func (o *Outbox) Postpone(ctx context.Context, p process.Pending) error {
	where, key := table.Where(commands.Columns[:commands.Key], [][]string{o.key(p.Target, p.EventID)})
	args := []any{p.Attempts, rowstore.Cut(p.Reason, reasonKept), p.DueAt.UnixMicro(), p.FailingSince.UnixMicro()}
	_, err := o.db.ExecContext(ctx, "UPDATE process_commands SET attempts = ?, reason = ?, due_at = ?, failing_since = ? WHERE "+where, append(args, key...)...)
	return o.store.Explain("postpone a command of a process", err)
}

// Count implements [process.Outbox].
func (o *Outbox) Count(ctx context.Context) (waiting, failing int, err error) {
	r := o.db.QueryRowContext(ctx, "SELECT COUNT(*), COUNT(CASE WHEN attempts > 0 THEN 1 END) FROM process_commands WHERE process = ?", o.process)
	if err := r.Scan(&waiting, &failing); err != nil {
		return 0, 0, o.store.Explain("count the commands of a process", fmt.Errorf("process %s: %w", o.process, err))
	}
	return waiting, failing, nil
}
