// Package process is the engine of process managers: events of some aggregates lead to commands for others.
//
// A process manager is a projection with a name and positions of its own (package projection). Its handlers turn an
// event into a [Command] and store it in the [Outbox], in the same transaction as the position. The outbox sends the
// commands and deletes those that are decided. If the program was killed before, a command is sent again, and the
// idempotency key, made of the process, the event and the aggregate, returns the first answer. A command that fails
// does not delay others. A command without an answer counts as failed after ten seconds and is sent again later. Those
// behind it may wait that long.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
)

// Command is one command for one aggregate, caused by an event. It has no arguments: what it needs is in its names.
type Command struct {
	// Target is the aggregate that the command is for.
	Target        es.AggregateID `json:"-" db:"tenant_code,aggregate_type,aggregate_id"`
	EventID       string         `json:"event_id" db:"event_id"`             // of the event that causes it; needed
	Name          string         `json:"command" db:"name"`                  // which command it is: [Send] knows
	Executor      string         `json:"executor_id" db:"executor_id"`       // who sends it: the ULID of a user account
	CausationID   string         `json:"causation_id" db:"causation_id"`     // of the causing event, or one before it
	CorrelationID string         `json:"correlation_id" db:"correlation_id"` // of the causing event
}

// Send sends a command and returns when it is decided. After an error the command is sent again later, with the same
// caller and key: so it returns nil if the command is rejected because there is nothing left to do.
type Send func(ctx context.Context, caller es.Caller, idempotencyKey string, command Command) error

// Pending is a command in the outbox.
type Pending struct {
	Process string `json:"process" db:"process"` // that sends it
	Command
	Attempts     int       `json:"attempts" db:"attempts"`           // failed attempts
	Reason       string    `json:"reason" db:"reason"`               // of the last failure; empty without one
	DueAt        time.Time `json:"retry_at" db:"due_at"`             // when it is sent next
	FailingSince time.Time `json:"failing_since" db:"failing_since"` // the first failure; undefined without one
}

// Outbox keeps and sends the commands of one process until they are decided, beside the positions of the process. All
// methods may be called concurrently, from any number of processes. Errors are those of [projection.Store].
type Outbox struct {
	db      *sqlx.DB
	store   *rowstore.Store
	process string
	log     *slog.Logger
	woken   chan struct{}

	Sent     atomic.Int64 // commands that were decided
	Failures atomic.Int64 // failed attempts
}

// New returns the outbox of the process with this name, whose positions are in store, on the same database. log: nil is
// slog.Default().
func New(db *sqlx.DB, store *rowstore.Store, name string, log *slog.Logger) *Outbox {
	return &Outbox{db: db, store: store, process: name, log: cmp.Or(log, slog.Default()), woken: make(chan struct{}, 1)}
}

var pendings = table.Of[Pending]("process_commands", 5)

func (o *Outbox) key(c Command) []string {
	return pendings.ID(&Pending{Process: o.process, Command: c})
}

// where is the condition for the command for an aggregate that an event caused.
func (o *Outbox) where(target es.AggregateID, eventID string) (string, []any) {
	return table.Where(pendings.Columns[:5], [][]string{o.key(Command{Target: target, EventID: eventID})})
}

// find returns the pending commands that the rest of a statement selects.
func find(ctx context.Context, db *sqlx.DB, where string, args ...any) (found []Pending, err error) {
	err = pendings.Select(ctx, db, func(p Pending) { found = append(found, p) }, "WHERE "+where, args...)
	return found, err
}

// update changes the pending command for an aggregate that an event caused, and reports whether there is one.
func (o *Outbox) update(ctx context.Context, target es.AggregateID, eventID, set string, args ...any) (found bool, err error) {
	where, key := o.where(target, eventID)
	rows, err := sqldialect.Changed(ctx, o.db, "UPDATE process_commands SET "+set+" WHERE "+where, append(args, key...)...)
	return rows > 0, o.store.Explain("change a command of a process", err)
}

// Add stores commands in the transaction, due at once. Another one for the same aggregate and event replaces the first;
// one of another name, or without an event, is [projection.ErrRefused].
func (o *Outbox) Add(ctx context.Context, tx projection.Tx, commands []Command) error {
	in := rowstore.SQL(tx)
	rows := make([]Pending, len(commands))
	names := make(map[string]string, len(commands))
	for i, command := range commands {
		key := fmt.Sprint(o.key(command))
		if former, is := names[key]; is && former != command.Name || command.EventID == "" {
			return fmt.Errorf("%w: %q to %s: a command needs the id of the event that caused it, and an event can cause one for an aggregate; there is also %q",
				projection.ErrRefused, command.Name, command.Target, former)
		}
		names[key] = command.Name
		rows[i] = Pending{Command: command, Process: o.process, DueAt: time.Now(), FailingSince: time.UnixMicro(0)}
	}
	return in.Explain("keep commands of a process", pendings.Upsert(ctx, in, in.Dialect, rows))
}

// Due lists the commands that are due, oldest first. One that is due later than any pause takes is due now: the clock
// was ahead when it was stored.
func (o *Outbox) Due(ctx context.Context, now time.Time, limit int) ([]Pending, error) {
	due, err := find(ctx, o.db, "process = ? AND (due_at <= ? OR due_at > ?) ORDER BY due_at LIMIT ?",
		o.process, now.UnixMicro(), now.Add(2*retryAtMax).UnixMicro(), limit)
	return due, o.store.Explain("read the commands of a process", err)
}

// Done deletes commands. A missing command is no error.
func (o *Outbox) Done(ctx context.Context, done []Command) error {
	keys := make([][]string, len(done))
	for i, command := range done {
		keys[i] = o.key(command)
	}
	return o.store.Explain("take commands of a process away", pendings.Delete(ctx, o.db, keys))
}

// AllFailing lists at most limit commands with failed attempts of all processes, those failing longest first.
func AllFailing(ctx context.Context, db *sqlx.DB, limit int) ([]Pending, error) {
	return find(ctx, db, "attempts > 0 ORDER BY failing_since, process, tenant_code, aggregate_id LIMIT ?", limit)
}

// Retry makes a command due. It fails with [rowstore.ErrNotParked] if there is no such command.
func (o *Outbox) Retry(ctx context.Context, target es.AggregateID, eventID string, now time.Time) error {
	found, err := o.update(ctx, target, eventID, "due_at = ?", now.UnixMicro())
	if err == nil && !found {
		err = notFailing(target, eventID)
	}
	return err
}

func notFailing(target es.AggregateID, eventID string) error {
	return fmt.Errorf("%s, event %s: %w", target, eventID, rowstore.ErrNotParked)
}

// Skip deletes a failing command, and stores who decided it and why; see [rowstore.Skips]. It fails with
// [rowstore.ErrNotParked] if there is none. If it is being sent right now, its aggregate may still accept it.
func (o *Outbox) Skip(ctx context.Context, target es.AggregateID, eventID, reason, by string, now time.Time) error {
	return o.store.Change(ctx, func(ctx context.Context, begun projection.Tx) error {
		tx := rowstore.SQL(begun)
		where, key := o.where(target, eventID)
		kept, err := sqldialect.Changed(ctx, tx, `REPLACE INTO skipped_commands (process, tenant_code, aggregate_type, aggregate_id, event_id, name, executor_id,
			cause, reason, skipped_by, skipped_at)
			SELECT process, tenant_code, aggregate_type, aggregate_id, event_id, name, executor_id, reason, ?, ?, ?
			FROM process_commands WHERE attempts > 0 AND `+where+tx.Dialect.ForUpdate(),
			append([]any{rowstore.Cut(reason, reasonKept), rowstore.Cut(by, byKept), now.UnixMicro()}, key...)...)
		if err != nil || kept == 0 {
			return cmp.Or(tx.Explain("keep a skipped command", err), notFailing(target, eventID))
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM process_commands WHERE "+where, key...)
		return tx.Explain("take a command of a process away", err)
	})
}

// Count returns how many commands are waiting, and how many of them have failed at least once.
func (o *Outbox) Count(ctx context.Context) (waiting, failing int, err error) {
	r := o.db.QueryRowContext(ctx, "SELECT COUNT(*), COUNT(CASE WHEN attempts > 0 THEN 1 END) FROM process_commands WHERE process = ?", o.process)
	err = r.Scan(&waiting, &failing)
	return waiting, failing, o.store.Explain("count the commands of process "+o.process, err)
}

// Wake makes Run read the outbox at once. It never blocks.
func (o *Outbox) Wake() {
	select {
	case o.woken <- struct{}{}:
	default: // a wake-up is already pending
	}
}

const (
	lookEvery  = time.Second // without a call of Wake
	page       = 100         // commands sent before they are deleted
	atOnce     = 8           // of them, sent concurrently
	timeout    = 10 * time.Second
	retryAfter = time.Second
	retryAtMax = 5 * time.Minute
	reasonKept = 2000 // code points
	byKept     = 255
)

// Run sends due commands until ctx ends.
func (o *Outbox) Run(ctx context.Context, send Send) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for ctx.Err() == nil {
		tried, err := o.SendDue(ctx, send)
		switch {
		case err != nil && ctx.Err() == nil:
			o.log.WarnContext(ctx, "the outbox of a process can't be reached; next try in a moment", "process", o.process, "error", err)
		case tried == page:
			continue
		}
		select {
		case <-ctx.Done():
		case <-look.C:
		case <-o.woken:
		}
	}
}

// SendDue tries at most one page of due commands and returns their number. After an error, those sent are sent again.
func (o *Outbox) SendDue(ctx context.Context, send Send) (int, error) {
	due, err := o.Due(ctx, time.Now(), page)
	if err != nil {
		return 0, err
	}
	var mutex sync.Mutex
	var done []Command
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, pending := range due {
		group.Go(func() error {
			if err := o.try(ctx, send, pending.Command); err != nil {
				return o.postpone(ctx, pending, err)
			}
			mutex.Lock()
			defer mutex.Unlock()
			done = append(done, pending.Command)
			return nil
		})
	}
	err = group.Wait()
	o.Sent.Add(int64(len(done)))
	return len(due), cmp.Or(err, o.Done(context.WithoutCancel(ctx), done))
}

// try sends a command. Its idempotency key is the same for every attempt.
func (o *Outbox) try(ctx context.Context, send Send, c Command) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			o.log.ErrorContext(ctx, "panic while sending a command", "process", o.process, "reason", reason, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	source := "process/" + o.process
	caller := es.Caller{Tenant: c.Target.Tenant, Executor: c.Executor, CorrelationID: c.CorrelationID, CausationID: c.CausationID, Source: source}
	return send(ctx, caller, source+"/"+c.EventID+"/"+c.Target.String(), c)
}

// postpone delays a command, unless it was deleted: with each failure longer, from a second to five minutes.
func (o *Outbox) postpone(ctx context.Context, p Pending, failed error) error {
	if ctx.Err() != nil { // the outcome is unknown
		if errors.Is(ctx.Err(), context.DeadlineExceeded) { // it is no stop: next time, others come first
			_, err := o.update(context.WithoutCancel(ctx), p.Target, p.EventID, "due_at = ?", time.Now().Add(retryAfter).UnixMicro())
			return cmp.Or(err, context.Cause(ctx))
		}
		return context.Cause(ctx)
	}
	o.Failures.Add(1)
	reason := rowstore.Cut(failed.Error(), reasonKept)
	if p.Reason != reason {
		o.log.WarnContext(ctx, "a command of a process can't be decided; it is sent again later", "process", o.process,
			"command", p.Name, "aggregate", p.Target.String(), "tenant", p.Target.Tenant, "event_id", p.EventID, "error", failed)
	}
	if p.Attempts == 0 {
		p.FailingSince = time.Now()
	}
	due := time.Now().Add(es.Backoff(retryAfter, retryAtMax, p.Attempts))
	_, err := o.update(ctx, p.Target, p.EventID, "attempts = ?, reason = ?, due_at = ?, failing_since = ?",
		p.Attempts+1, reason, due.UnixMicro(), p.FailingSince.UnixMicro())
	return err
}
