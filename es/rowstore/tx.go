package rowstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore/table"
)

// Tx is a transaction. Handlers use it for their statements, and [Tx.Explain] for their errors.
type Tx struct {
	*sqlx.Tx
	Dialect sqldialect.Dialect
	// Suffix is the end of the names of the tables that rows are in: "" in those of the live set.
	Suffix   string
	store    *Store
	set      string                  // the name that positions and dead letters are under
	existing map[es.AggregateID]bool // the positions that Load found, and whether they are parked
	lock     string                  // the end of statements that read what may be changed
}

// SQL returns the database transaction of tx, which must be one of a [Store].
func SQL(tx projection.Tx) *Tx { return tx.(*Tx) }

// Explain adds what failed and classifies the error for the projection; nil stays nil.
func (t *Tx) Explain(doing string, err error) error { return t.store.Explain(doing, err) }

// Change implements [projection.Store]. In the transaction of a switch, its error ends the switch: without ErrTransient
// and ErrRefused nothing is tried again over what was written before.
func (s *Store) Change(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	if s.within == nil {
		return s.transact(ctx, s.dialect.Writing(), change)
	}
	tx, err := s.enter(ctx, s.within)
	if err == nil {
		err = change(ctx, tx)
	}
	if err != nil {
		return fmt.Errorf("while writers wait for the switch: %v", err) //nolint:errorlint // see above
	}
	return nil
}

// transact does work in a transaction on the store's set.
func (s *Store) transact(
	ctx context.Context, options *sql.TxOptions, work func(context.Context, projection.Tx) error,
) error {
	begun, err := s.db.BeginTxx(ctx, options)
	if err != nil {
		return s.Explain("begin a transaction", err)
	}
	defer func() { _ = begun.Rollback() }() // unless it is committed; a lost connection ends the transaction, too
	tx, err := s.enter(ctx, begun)
	if err == nil {
		err = work(ctx, tx)
	}
	if err != nil {
		return err
	}
	return s.Explain("commit", commit(ctx, begun))
}

// commit returns the context's error if the transaction has ended with it.
func commit(ctx context.Context, begun *sqlx.Tx) error {
	err := begun.Commit()
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// View implements [projection.Store]. On a server it shares the lock of [Store.Change]; see enter.
func (s *Store) View(ctx context.Context, read func(context.Context, projection.Tx) error) error {
	return s.transact(ctx, s.dialect.Viewing(), func(ctx context.Context, tx projection.Tx) error {
		SQL(tx).lock = ""
		return read(ctx, tx)
	})
}

// enter makes what has begun a transaction on the store's set. One on the live set shares a lock with the others until
// it ends, so that no other set takes its place meanwhile. The lock comes first: a transaction that waits for it must
// not have touched a table that is about to be renamed.
func (s *Store) enter(ctx context.Context, begun *sqlx.Tx) (*Tx, error) {
	tx := &Tx{Tx: begun, Dialect: s.dialect, store: s, existing: map[es.AggregateID]bool{}, lock: s.dialect.ForUpdate()}
	if s.next != "" {
		tx.set, tx.Suffix = s.next, nextSuffix
		return tx, s.stillMaking(ctx, begun)
	}
	var turn struct {
		Term uint64
		Held bool
	}
	held := "TRUE"
	// It is not held for a process that still has to see that another server has taken its server's place.
	if s.term != 0 && s.server() {
		held = "IS_USED_LOCK(" + sqldialect.LockNamed("'"+updaterLock+"'") + ") IS NOT NULL"
	}
	if err := begun.GetContext(ctx, &turn, "SELECT term, "+held+" AS held FROM projection_turn WHERE id = 1"+s.dialect.ForShare()); err != nil {
		return nil, s.Explain("see whose turn it is", err)
	}
	if s.term != 0 && s.term != turn.Term {
		return nil, fmt.Errorf("%w: its term is %d, and this one's was %d", projection.ErrTermOver, turn.Term, s.term)
	}
	if !turn.Held {
		return nil, fmt.Errorf("%w, or soon: nobody holds the lock on them", projection.ErrTermOver)
	}
	var err error
	tx.set, err = setOf(ctx, begun, s.projection)
	return tx, s.Explain("read which rows are live", err)
}

// stillMaking fails if the tables of the set in the making are another's, or if the set is live already: this process
// has lost the lock on rebuilds, or there is none, as on a file.
func (s *Store) stillMaking(ctx context.Context, begun sqlx.QueryerContext) error {
	found := ""
	err := sets.In(nextSuffix).Load(ctx, begun, [][]string{{s.projection}}, "", func(row setRow) { found = row.Name })
	if err == nil && found != s.next {
		return fmt.Errorf("%w: they are those of the set %q, not of %q", projection.ErrTermOver, found, s.next)
	}
	live := ""
	if err == nil {
		live, err = setOf(ctx, begun, s.projection)
	}
	if err == nil && live == s.next {
		return fmt.Errorf("%w: the set %q is live already", projection.ErrTermOver, s.next)
	}
	return s.Explain("see which set is being made", err)
}

// Load implements [projection.Tx]. It locks the positions in the order of their keys; all writers lock in this order,
// which avoids deadlocks. The lock covers everything that belongs to the aggregate.
func (t *Tx) Load(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]projection.Position, error) {
	found := make(map[es.AggregateID]projection.Position, len(keys))
	var parked []es.AggregateID
	err := positions.Load(ctx, t, primariesOf(keys, t.set), t.lock, func(row positionRow) {
		t.existing[row.Key] = row.Parked
		found[row.Key] = projection.Position{Version: row.Version}
		if row.Parked {
			parked = append(parked, row.Key)
		}
	})
	if err == nil {
		err = deadLetters.Load(ctx, t, primariesOf(parked, t.set), t.lock, func(letter projection.DeadLetter) {
			position := found[letter.Key]
			position.Parked = &letter
			found[letter.Key] = position
		})
	}
	return found, t.Explain("read positions", err)
}

// primariesOf returns the columns of keys after those before them, such as the set.
func primariesOf(keys []es.AggregateID, before ...string) [][]string {
	primaries := make([][]string, len(keys))
	for i, key := range keys {
		primaries[i] = slices.Concat(before, []string{key.Tenant.String(), key.Type, key.ID})
	}
	return primaries
}

const versionsAtOnce = 500

// Versions implements [projection.Store].
func (s *Store) Versions(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error) {
	versions := make(map[es.AggregateID]uint64, len(keys))
	primaries := primariesOf(keys)
	slices.SortFunc(primaries, slices.Compare)
	for some := range slices.Chunk(primaries, versionsAtOnce) {
		where, args := table.Where(positions.Columns[1:4], some)
		err := positions.Select(ctx, s.reader, func(row positionRow) { versions[row.Key] = row.Version },
			"WHERE "+ofSet+" AND ("+where+")", append(s.set(), args...)...)
		if err != nil {
			return nil, s.Explain("read positions", err)
		}
	}
	return versions, nil
}

// Save implements [projection.Tx].
func (t *Tx) Save(ctx context.Context, changes projection.Changes) error {
	if err := t.savePositions(ctx, changes.Positions); err != nil {
		return err
	}
	var letters []projection.DeadLetter
	var released []es.AggregateID
	for key, position := range changes.Positions {
		if position.Parked != nil {
			letters = append(letters, letterIn(t.set, *position.Parked))
		} else if t.existing[key] {
			released = append(released, key)
		}
	}
	if err := deadLetters.Upsert(ctx, t, t.Dialect, letters); err != nil {
		return t.Explain("write dead letters", err)
	}
	if err := deadLetters.Delete(ctx, t, primariesOf(released, t.set)); err != nil {
		return t.Explain("delete dead letters", err)
	}
	var types []typeRow
	for _, changed := range changes.Types {
		types = append(types, typeRow{t.store.projection, changed, changes.At})
	}
	if err := aggregateTypes.Upsert(ctx, t, t.Dialect, types); err != nil {
		return t.Explain("write aggregate types", err)
	}
	if changes.Checkpoint == (projection.Checkpoint{}) {
		return nil
	}
	err := checkpoints.Upsert(ctx, t, t.Dialect, []checkpointRow{{t.store.owner(), changes.Checkpoint, changes.At}})
	return t.Explain("write a checkpoint", err)
}

// savePositions updates existing positions and then inserts new ones. If a new one exists by now, another transaction
// inserted it with events that this one does not know, so this one must be retried.
func (t *Tx) savePositions(ctx context.Context, all map[es.AggregateID]projection.Position) error {
	var made, changed []positionRow
	for key, position := range all {
		row := positionRow{t.set, projection.AtVersion{Key: key, Version: position.Version}, position.Parked != nil}
		if _, exists := t.existing[key]; exists {
			changed = append(changed, row)
		} else {
			made = append(made, row)
		}
	}
	if err := positions.Upsert(ctx, t, t.Dialect, changed); err != nil {
		return t.Explain("change positions", err)
	}
	err := positions.Insert(ctx, t, t.Dialect, made)
	if err != nil && sqldialect.ClassOf(err) == sqldialect.Duplicate {
		return fmt.Errorf("make positions: %w: %w", projection.ErrTransient, err)
	}
	return t.Explain("make positions", err)
}
