package rowstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
	"example.com/threads/es/projection"
)

// Letters lists at most limit dead letters of all projections, those that have been parked longest first.
func Letters(ctx context.Context, db *sqlx.DB, limit int) (found []projection.DeadLetter, err error) {
	err = deadLetters.Select(ctx, db, func(letter projection.DeadLetter) {
		letter.Projection, _, _ = strings.Cut(letter.Projection, setSeparator)
		found = append(found, letter)
	}, "WHERE projection IN (SELECT set_name FROM row_sets) "+
		"OR (projection NOT IN (SELECT projection FROM row_sets) AND projection NOT LIKE '%"+setSeparator+"%') "+
		"ORDER BY parked_at, projection, tenant_code, aggregate_id LIMIT ?", limit)
	return found, err
}

// ErrNotParked: an aggregate is not parked on the event that is named, or no command fails because of that.
var ErrNotParked = errors.New("nothing is parked on this event")

// Retry makes a parked aggregate due. The projection's program tries it again within a moment.
func (s *Store) Retry(ctx context.Context, key es.AggregateID, now time.Time) error {
	due, err := sqldialect.Changed(ctx, s.db,
		"UPDATE dead_letters SET retry_at = ? WHERE tenant_code = ? AND aggregate_type = ? AND aggregate_id = ? AND "+ofSet,
		append([]any{now.UnixMicro(), key.Tenant.String(), key.Type, key.ID}, s.set()...)...)
	if err == nil && due == 0 {
		return fmt.Errorf("%s: %w", key, ErrNotParked)
	}
	return s.Explain("make a dead letter due", err)
}

// Skip is an operator's decision to leave an event out of a projection, or a command out of a process.
type Skip struct {
	Projection string         `json:"projection" db:"projection"` // or the process
	Key        es.AggregateID `json:"-" db:"tenant_code,aggregate_type,aggregate_id"`
	SeqNr      uint64         `json:"seq_nr,omitempty" db:"seq_nr"`
	EventID    string         `json:"event_id" db:"event_id"`
	Cause      string         `json:"cause" db:"cause"`   // why the event could not be projected
	Reason     string         `json:"reason" db:"reason"` // why it was decided, in the operator's words
	By         string         `json:"by" db:"skipped_by"` // who decided
	At         time.Time      `json:"at" db:"skipped_at"`
	Command    string         `json:"command,omitempty" db:"name"` // of a process, with the target Key; "": an event
}

// SkipEvent lets a parked aggregate go on behind the event that it is parked on, and keeps who decided so and why. It
// fails with ErrNotParked when the aggregate is parked on another event, or on none.
func (s *Store) SkipEvent(ctx context.Context, key es.AggregateID, seqNr uint64, reason, by string, now time.Time) (err error) {
	change := func(ctx context.Context, begun projection.Tx) error {
		tx := SQL(begun)
		positions, err := tx.Load(ctx, []es.AggregateID{key})
		if err != nil {
			return err
		}
		position := positions[key]
		letter := position.Parked
		switch {
		case letter == nil || letter.SeqNr != seqNr:
			return fmt.Errorf("%s, event %d: %w", key, seqNr, ErrNotParked)
		case position.Version+1 != seqNr:
			return es.Reject(es.Conflict, "not_skippable", fmt.Sprintf("%s is parked on event %d, and its rows end with event %d: "+
				"those in between would be lost; see what a journal check tells", key, seqNr, position.Version))
		}
		skip := Skip{
			Projection: s.projection, Key: key, SeqNr: seqNr, EventID: letter.EventID, Cause: Cut(letter.Reason, reasonKept),
			Reason: Cut(reason, reasonKept), By: Cut(by, byKept), At: now,
		}
		if err := skippedEvents.Upsert(ctx, tx, tx.Dialect, []Skip{skip}); err != nil {
			return tx.Explain("keep a skipped event", err)
		}
		letter.RetryAt = now
		positions[key] = projection.Position{Version: seqNr, Parked: letter}
		return tx.Save(ctx, projection.Changes{Positions: positions, At: now})
	}
	for range 5 { // the projection may be trying the aggregate again at this moment
		if err = s.Change(ctx, change); !errors.Is(err, projection.ErrTransient) {
			break
		}
	}
	return err
}

const byKept = 255 // code points

// Skips lists what has been skipped in all projections and processes, the latest first, up to a limit.
func Skips(ctx context.Context, db *sqlx.DB, limit int) (found []Skip, err error) {
	err = skips.Query(ctx, db, func(skip Skip) { found = append(found, skip) },
		`SELECT projection, tenant_code, aggregate_type, aggregate_id, seq_nr, event_id, cause, reason, skipped_by, skipped_at, '' FROM skipped_events
		UNION ALL SELECT process, tenant_code, aggregate_type, aggregate_id, 0, event_id, cause, reason, skipped_by, skipped_at, name FROM skipped_commands
		ORDER BY 10 DESC LIMIT ?`, limit)
	return found, err
}

// Skipped implements [projection.Store].
func (s *Store) Skipped(ctx context.Context) (map[projection.AtVersion]string, error) {
	found := make(map[projection.AtVersion]string)
	err := skippedEvents.Select(ctx, s.db, func(skip Skip) {
		found[projection.AtVersion{Key: skip.Key, Version: skip.SeqNr}] = skip.EventID
	}, "WHERE projection = ?", s.projection)
	return found, s.Explain("read skipped events", err)
}

// Positions implements [projection.Store].
func (s *Store) Positions(ctx context.Context, after es.AggregateID, limit int) (found []projection.AtVersion, err error) {
	where, keys := s.beyond("", after)
	err = positions.Select(ctx, s.db, func(row positionRow) { found = append(found, row.AtVersion) },
		"WHERE "+ofSet+" AND "+where, slices.Concat(s.set(), keys, []any{limit})...)
	return found, s.Explain("list positions", err)
}

// beyond ends a query of a page of aggregates: those after a key, in the order of keys, up to a limit.
func (s *Store) beyond(of string, after es.AggregateID) (string, []any) {
	tenant := after.Tenant.String()
	// Each database finds the place in an index with one of the two forms only.
	where, keys := "(.tenant_code, .aggregate_type, .aggregate_id) > (?, ?, ?)", []any{tenant, after.Type, after.ID}
	if s.server() {
		where = "(.tenant_code > ? OR (.tenant_code = ? AND (.aggregate_type > ? OR (.aggregate_type = ? AND .aggregate_id > ?))))"
		keys = []any{tenant, tenant, after.Type, after.Type, after.ID}
	}
	return strings.ReplaceAll(where+" ORDER BY .tenant_code, .aggregate_type, .aggregate_id LIMIT ?", ".", of), keys
}
