package rowstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore/table"
)

// The ends of the names of the tables that are not live: those of the set that is being made, and those of the set that
// was live before.
const (
	nextSuffix = "_next"
	oldSuffix  = "_old"
)

// RowSets are the sets of a projection's rows: the live one, the one that a rebuild makes, and the one that was live
// before. It is the [projection.RowSets].
//
// A set is the application's tables and row_sets; so one projection of a database has sets.
type RowSets struct {
	store  *Store
	tables []string // of the live set
}

// NewRowSets are the sets of the projection of a store, whose rows are in these tables.
func NewRowSets(store *Store, tables []string) *RowSets {
	return &RowSets{store, append([]string{sets.Name}, tables...)}
}

type rebuildRow struct {
	projection string
	generation uint64
	projection.RebuildState
}

var rebuilds = table.Table[rebuildRow]{
	Name: "projection_rebuilds", Key: 1,
	Columns: []string{
		"projection", "generation", "set_name", "handlers", "phase", "events_done", "events_total", "cancelled", "failure", "started_at",
		"updated_at",
	},
	ID: func(r *rebuildRow) []string { return []string{r.projection} },
	Fields: func(r *rebuildRow) []any {
		return []any{
			&r.projection, &r.generation, &r.Set, &r.Handlers, (*string)(&r.Phase), &r.Done, &r.Total, &r.Cancelled,
			&r.Failure, table.Time(&r.StartedAt), table.Time(&r.UpdatedAt),
		}
	},
}

// State implements [projection.RowSets].
func (r *RowSets) State(ctx context.Context) (projection.RebuildState, error) {
	row, err := r.row(ctx)
	return row.RebuildState, err
}

func (r *RowSets) row(ctx context.Context) (found rebuildRow, err error) {
	s := r.store
	err = rebuilds.Load(ctx, s.db, [][]string{{s.projection}}, "", func(row rebuildRow) { found = row })
	if err != nil {
		return found, s.explain("read how far the rebuild is", err)
	}
	var live string
	live, err = s.set(ctx)
	found.Live = found.Set != "" && live == found.Set
	return found, err
}

// Save implements [projection.RowSets].
func (r *RowSets) Save(ctx context.Context, state projection.RebuildState) (cancelled bool, err error) {
	s := r.store
	_, err = s.db.ExecContext(ctx, "UPDATE projection_rebuilds SET phase = ?, events_done = ?, events_total = ?, failure = ?, updated_at = ? "+
		"WHERE projection = ? AND set_name = ? AND phase NOT IN ('done', 'cancelled')",
		string(state.Phase), state.Done, state.Total, Cut(state.Failure, reasonKept), state.UpdatedAt.UnixMicro(), s.projection, state.Set)
	if err == nil {
		err = s.db.GetContext(ctx, &cancelled, "SELECT cancelled FROM projection_rebuilds WHERE projection = ? AND set_name = ?", s.projection, state.Set)
	}
	return cancelled, s.explain("store how far the rebuild is", err)
}

// Cancel implements [projection.RowSets].
func (r *RowSets) Cancel(ctx context.Context) error {
	_, err := r.store.db.ExecContext(ctx, "UPDATE projection_rebuilds SET cancelled = 1 WHERE projection = ?", r.store.projection)
	return r.store.explain("ask for the end of the rebuild", err)
}

// Begin implements [projection.RowSets].
func (r *RowSets) Begin(ctx context.Context, handlers string, now time.Time) error {
	row, err := r.row(ctx)
	if err != nil {
		return err
	}
	if err := r.Drop(ctx); err != nil {
		return err
	}
	s := r.store
	row.projection, row.generation = s.projection, row.generation+1
	row.RebuildState = projection.RebuildState{
		Set: fmt.Sprint(s.projection, setSeparator, row.generation), Handlers: handlers, Phase: projection.Reading, StartedAt: now, UpdatedAt: now,
	}
	live, err := s.set(ctx)
	if err != nil {
		return err
	}
	if err := s.db.GetContext(ctx, &row.Total, "SELECT COALESCE(SUM(version), 0) FROM projection_positions WHERE projection = ?", live); err != nil {
		return s.explain("count the events in the rows", err)
	}
	if err := rebuilds.Upsert(ctx, s.db, s.dialect, []rebuildRow{row}); err != nil {
		return s.explain("begin a rebuild", err)
	}
	return r.makeTables(ctx, row)
}

// Prepare implements [projection.RowSets].
func (r *RowSets) Prepare(ctx context.Context) error {
	row, err := r.row(ctx)
	if err != nil {
		return err
	}
	return r.makeTables(ctx, row)
}

func (r *RowSets) makeTables(ctx context.Context, row rebuildRow) error {
	s := r.store
	for _, name := range r.tables {
		if err := s.copyTable(ctx, name); err != nil {
			return s.explain("make the table "+name+nextSuffix, err)
		}
	}
	own := setRow{s.projection, row.Set, row.Handlers}
	return s.explain("name the set", sets.In(nextSuffix).Upsert(ctx, s.db, s.dialect, []setRow{own}))
}

// Index implements [projection.RowSets].
func (r *RowSets) Index(ctx context.Context) error {
	for _, name := range r.tables {
		if err := r.store.copyIndexes(ctx, name); err != nil {
			return r.store.explain("make the indexes of the table "+name+nextSuffix, err)
		}
	}
	return nil
}

// Drop implements [projection.RowSets].
func (r *RowSets) Drop(ctx context.Context) error {
	s := r.store
	live, err := s.set(ctx)
	if err != nil {
		return err
	}
	// Rows last: rows without positions stop a rebuild that is resumed after a kill, positions without rows do not.
	rebuilt := s.projection + setSeparator + "%"
	if err := s.deleteAll(ctx, "DELETE FROM checkpoints WHERE projection LIKE ?", rebuilt); err != nil {
		return s.explain("delete the checkpoints of rebuilds", err)
	}
	notLive, args := "projection <> ?", []any{live}
	if !s.server() { // where no lock keeps a rebuild from switching meanwhile
		notLive, args = "projection <> COALESCE((SELECT set_name FROM row_sets WHERE projection = ?), ?)", []any{s.projection, s.projection}
	}
	args = append(args, s.projection, rebuilt)
	for _, name := range []string{"projection_positions", "dead_letters"} {
		err := s.deleteAll(ctx, "DELETE FROM "+name+" WHERE "+notLive+" AND (projection = ? OR projection LIKE ?)", args...)
		if err != nil {
			return s.explain("delete what belonged to rows that are not live from "+name, err)
		}
	}
	for _, name := range r.tables {
		for _, suffix := range []string{nextSuffix, oldSuffix} {
			if _, err := s.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+name+suffix); err != nil {
				return s.explain("drop the table "+name+suffix, err)
			}
		}
	}
	return nil
}

// Next implements [projection.RowSets].
func (r *RowSets) Next(ctx context.Context) (projection.Making, error) {
	row, err := r.row(ctx)
	if err != nil {
		return nil, err
	}
	return r.making(row.Set, nil), nil
}

func (r *RowSets) making(set string, within *sqlx.Tx) *making {
	own := *r.store
	own.making, own.within, own.term = set, within, 0
	return &making{&own}
}

// making is the store of the set that is being made.
type making struct{ *Store }

// Checkpoint implements [projection.Making].
func (m *making) Checkpoint(ctx context.Context, shard string) (position string, err error) {
	err = checkpoints.Load(ctx, m.reading(), [][]string{{m.making, projection.RebuildSource, shard}}, "", func(row checkpointRow) { position = row.Position })
	return position, m.explain("read a checkpoint of the rebuild", err)
}

// Skips implements [projection.Making].
func (m *making) Skips(ctx context.Context) (map[es.AggregateID]map[uint64]bool, error) {
	found := make(map[es.AggregateID]map[uint64]bool)
	err := skips.Query(ctx, m.reading(), func(row skipRow) {
		if found[row.key()] == nil {
			found[row.key()] = make(map[uint64]bool)
		}
		found[row.key()][row.skip.SeqNr] = true
	}, "SELECT "+strings.Join(skips.Columns, ", ")+" FROM skipped_events WHERE projection = ?", m.projection)
	return found, m.explain("read skipped events", err)
}

// Events implements [projection.Making].
func (m *making) Events(ctx context.Context) (events uint64, err error) {
	err = m.db.GetContext(ctx, &events, "SELECT COALESCE(SUM(version), 0) FROM projection_positions WHERE projection = ?", m.making)
	return events, m.explain("count the events in the rows", err)
}

// Behind implements [projection.Making].
func (m *making) Behind(ctx context.Context, after es.AggregateID, limit int) (found []projection.Head, err error) {
	live, err := setOf(ctx, m.reading(), m.projection)
	if err != nil {
		return nil, m.explain("read which rows are live", err)
	}
	tenant := after.Tenant.String()
	err = positions.Query(ctx, m.reading(), func(row positionRow) { found = append(found, projection.Head{Key: row.key(), Version: row.version}) },
		`SELECT l.projection, l.tenant_code, l.aggregate_type, l.aggregate_id, l.version, l.parked FROM projection_positions l
		LEFT JOIN projection_positions n ON n.projection = ? AND n.tenant_code = l.tenant_code AND n.aggregate_type = l.aggregate_type AND n.aggregate_id = l.aggregate_id
		WHERE l.projection = ? AND l.version > 0 AND (n.version IS NULL OR (n.version < l.version AND n.parked = 0))
		AND (l.tenant_code > ? OR (l.tenant_code = ? AND (l.aggregate_type > ? OR (l.aggregate_type = ? AND l.aggregate_id > ?))))
		ORDER BY l.tenant_code, l.aggregate_type, l.aggregate_id LIMIT ?`,
		m.making, live, tenant, tenant, after.Type, after.Type, after.ID, limit)
	return found, m.explain("compare positions", err)
}

// NewlyParked implements [projection.Making].
func (m *making) NewlyParked(ctx context.Context) (letter projection.DeadLetter, found bool, err error) {
	live, err := setOf(ctx, m.reading(), m.projection)
	if err != nil {
		return letter, false, m.explain("read which rows are live", err)
	}
	columns := deadLetters.List("n")
	err = deadLetters.Query(ctx, m.reading(), func(row letterRow) { letter, found = row.read(), true }, `SELECT `+columns+` FROM dead_letters n
		LEFT JOIN dead_letters l ON l.projection = ? AND l.tenant_code = n.tenant_code AND l.aggregate_type = n.aggregate_type AND l.aggregate_id = n.aggregate_id
		WHERE n.projection = ? AND l.projection IS NULL LIMIT 1`, live, m.making)
	return letter, found, m.explain("compare dead letters", err)
}

// Types implements [projection.RowSets].
func (r *RowSets) Types(ctx context.Context) (types []string, err error) {
	live, err := r.store.set(ctx)
	if err == nil {
		err = r.store.db.SelectContext(ctx, &types, "SELECT DISTINCT aggregate_type FROM projection_positions WHERE projection = ?", live)
	}
	return types, r.store.explain("read which aggregate types have rows", err)
}

// Handlers implements [projection.RowSets].
func (r *RowSets) Handlers(ctx context.Context) (handlers string, err error) {
	err = sets.Load(ctx, r.store.db, [][]string{{r.store.projection}}, "", func(row setRow) { handlers = row.handlers })
	return handlers, r.store.explain("read which handlers made the rows", err)
}

// SaveHandlers implements [projection.RowSets].
func (r *RowSets) SaveHandlers(ctx context.Context, handlers string) error {
	s := r.store
	return s.Change(ctx, func(ctx context.Context, begun projection.Tx) error {
		tx, err := SQL(begun)
		if err != nil {
			return err
		}
		return tx.Explain("store which handlers made the rows", sets.Upsert(ctx, tx, tx.Dialect, []setRow{{s.projection, tx.set, handlers}}))
	})
}

// Switch implements [projection.RowSets].
func (r *RowSets) Switch(ctx context.Context, level func(context.Context, projection.Making) error) error {
	row, err := r.row(ctx)
	if err != nil || row.Live {
		return err
	}
	if err := r.checkColumns(ctx); err != nil {
		return err
	}
	if r.store.server() {
		return r.switchTables(ctx, row, level)
	}
	return r.switchFile(ctx, row, level)
}

// checkColumns sees that no migration has changed the live tables since the others were made.
func (r *RowSets) checkColumns(ctx context.Context) error {
	s := r.store
	for _, name := range r.tables {
		live, err := s.columns(ctx, name)
		if err != nil {
			return s.explain("read the columns of "+name, err)
		}
		next, err := s.columns(ctx, name+nextSuffix)
		if err != nil {
			return s.explain("read the columns of "+name+nextSuffix, err)
		}
		if !slices.Equal(live, next) {
			return fmt.Errorf("a migration has changed the table %s since the rebuild began: give the rebuild up with --cancel, and begin another one", name)
		}
	}
	return nil
}

// switchFile is Switch on SQLite: one transaction, which keeps all other writers out.
func (r *RowSets) switchFile(ctx context.Context, row rebuildRow, level func(context.Context, projection.Making) error) error {
	s := r.store
	begun, err := s.db.BeginTxx(s.unhurried(ctx), s.dialect.Writing())
	if err != nil {
		return s.explain("begin the switch", err)
	}
	if err = level(ctx, r.making(row.Set, begun)); err == nil {
		err = r.rename(s.unhurried(ctx), begun)
	}
	if err != nil {
		return errors.Join(s.explain("switch to the new rows", err), begun.Rollback())
	}
	return s.explain("commit the switch", begun.Commit())
}

// rename gives the live tables and those of the new set each other's place.
func (r *RowSets) rename(ctx context.Context, in *sqlx.Tx) error {
	for _, name := range r.tables {
		for _, renamed := range [][2]string{{name, name + oldSuffix}, {name + nextSuffix, name}} {
			if _, err := in.ExecContext(ctx, "ALTER TABLE "+renamed[0]+" RENAME TO "+renamed[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	// lockedFor is how long the server keeps the lock of a switch whose process says nothing.
	lockedFor = 20 * time.Second
	// renamedIn is how soon the renaming has to follow on its own connection, or the server closes that: so a process
	// that was paused between can't rename without the lock.
	renamedIn = 2 * time.Second
	// renameWait is how long the renaming waits for queries to end. Those that come meanwhile wait for it.
	renameWait     = 2 // s
	renameAttempts = 10
)

// switchTables is Switch on MySQL and MariaDB, where renaming ends a transaction: so the lock that keeps writers out is
// on one connection, and the renaming on another.
func (r *RowSets) switchTables(ctx context.Context, row rebuildRow, level func(context.Context, projection.Making) error) (err error) {
	for attempt := 1; ; attempt++ {
		err = r.trySwitch(ctx, row, level)
		if err == nil || attempt == renameAttempts || !errors.Is(err, projection.ErrTransient) {
			return err
		}
		if now, err := r.row(ctx); err == nil && now.Live {
			return nil // the answer was lost
		}
		_ = es.Wait(ctx, time.Second)
	}
}

func (r *RowSets) trySwitch(ctx context.Context, row rebuildRow, level func(context.Context, projection.Making) error) error {
	s := r.store
	return s.onConnection(ctx, lockedFor, func(lock *sql.Conn) error {
		begun, err := lock.BeginTx(ctx, s.dialect.Writing())
		if err != nil {
			return s.explain("begin the switch", err)
		}
		defer func() { _ = begun.Rollback() }() // it writes nothing
		const query = "SELECT term FROM projection_turn WHERE id = 1 FOR UPDATE"
		var term uint64
		if err := begun.QueryRowContext(ctx, query).Scan(&term); err != nil {
			return s.explain("keep writers out for the switch", err)
		}
		if err := level(ctx, r.making(row.Set, nil)); err != nil {
			return err
		}
		return s.onConnection(ctx, renamedIn, func(conn *sql.Conn) error {
			if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout = %d", renameWait)); err != nil {
				return s.explain("prepare the renaming", err)
			}
			if err := begun.QueryRowContext(ctx, query).Scan(&term); err != nil {
				return s.explain("keep writers out for the switch", err)
			}
			pairs := make([]string, 0, 2*len(r.tables))
			for _, name := range r.tables {
				pairs = append(pairs, name+" TO "+name+oldSuffix, name+nextSuffix+" TO "+name)
			}
			_, err := conn.ExecContext(ctx, "RENAME TABLE "+strings.Join(pairs, ", "))
			return s.explain("switch to the new rows", err)
		})
	})
}
