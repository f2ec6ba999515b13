package process

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
)

// AllFailing lists at most limit commands with failed attempts of all processes, those failing longest first.
func AllFailing(ctx context.Context, db *sqlx.DB, limit int) ([]Pending, error) {
	return find(ctx, db, "attempts > 0 ORDER BY failing_since, process, tenant_code, aggregate_id LIMIT ?", limit)
}

// Retry makes a command due. The process's program sends it soon after. It fails with [rowstore.ErrNotParked] if there
// is no such command.
func (o *Outbox) Retry(ctx context.Context, target es.AggregateID, eventID string, now time.Time) error {
	found, err := o.update(ctx, target, eventID, "due_at = ?", now.UnixMicro())
	if err == nil && !found {
		err = fmt.Errorf("%s, event %s: %w", target, eventID, rowstore.ErrNotParked)
	}
	return err
}

// skippedRow is an operator's decision to drop a command.
type skippedRow struct {
	Process string `db:"process"`
	Command
	Cause  string    `db:"cause"`      // why the command failed
	Reason string    `db:"reason"`     // the operator's reason
	By     string    `db:"skipped_by"` // who decided
	At     time.Time `db:"skipped_at"`
}

var skipped = table.Of[skippedRow]("skipped_commands", 5).Without("causation_id", "correlation_id")

const byKept = 255 // code points

// Skip deletes a failing command, and stores who decided it and why. It fails with [rowstore.ErrNotParked] if there is
// no such command. If it is being sent right now, its aggregate may still accept it.
func (o *Outbox) Skip(ctx context.Context, target es.AggregateID, eventID, reason, by string, now time.Time) error {
	return o.store.Change(ctx, func(ctx context.Context, begun projection.Tx) error {
		tx := rowstore.SQL(begun)
		key := [][]string{keyOf(o.process, target, eventID)}
		var pending Pending
		if err := pendings.Load(ctx, tx, key, tx.Dialect.ForUpdate(), func(p Pending) { pending = p }); err != nil {
			return tx.Explain("read a command of a process", err)
		}
		if pending.Attempts == 0 {
			return fmt.Errorf("%s, event %s: %w", target, eventID, rowstore.ErrNotParked)
		}
		kept := skippedRow{o.process, pending.Command, pending.Reason, rowstore.Cut(reason, reasonKept), rowstore.Cut(by, byKept), now}
		if err := skipped.Upsert(ctx, tx, tx.Dialect, []skippedRow{kept}); err != nil {
			return tx.Explain("keep a skipped command", err)
		}
		return tx.Explain("take a command of a process away", pendings.Delete(ctx, tx, key))
	})
}

// AllSkipped lists at most limit skipped commands of all processes, latest first.
func AllSkipped(ctx context.Context, db *sqlx.DB, limit int) (found []rowstore.Skip, err error) {
	take := func(s skippedRow) {
		found = append(found, rowstore.Skip{
			Projection: s.Process, Key: s.Target, Command: s.Name, EventID: s.EventID, Cause: s.Cause, Reason: s.Reason, By: s.By, At: s.At,
		})
	}
	err = skipped.Query(ctx, db, take,
		"SELECT "+strings.Join(skipped.Columns, ", ")+" FROM skipped_commands ORDER BY skipped_at DESC LIMIT ?", limit)
	return found, err
}
