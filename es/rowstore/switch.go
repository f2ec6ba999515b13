package rowstore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
	"example.com/threads/es/projection"
)

// The ends of the names of the tables of the set that is being made, and of the set that was live before.
const (
	nextSuffix = "_next"
	oldSuffix  = "_old"
)

// tables are those of a set: the application's, and the one that names the set.
func (r *Rebuild) tables() []string { return append([]string{sets.Name}, r.Tables...) }

// makeTables makes the empty tables of the new set that are not there yet; see makeIndexes.
func (r *Rebuild) makeTables(ctx context.Context, state RebuildState) error {
	s := r.Store
	for _, name := range r.tables() {
		statement := "CREATE TABLE IF NOT EXISTS " + name + nextSuffix + " LIKE " + name
		if !s.server() {
			if err := s.db.GetContext(ctx, &statement, "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", name); err != nil {
				return s.Explain("read how the table "+name+" was made", err)
			}
			statement = createdTable.ReplaceAllString(statement, "CREATE TABLE IF NOT EXISTS "+name+nextSuffix)
		}
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return s.Explain("make the table "+name+nextSuffix, err)
		}
	}
	own := setRow{s.projection, state.Set, state.Handlers}
	return s.Explain("name the set", sets.In(nextSuffix).Upsert(ctx, s.db, s.dialect, []setRow{own}))
}

// The statements that made a table and an index, as SQLite returns them.
var (
	createdTable = regexp.MustCompile(`^CREATE TABLE (IF NOT EXISTS )?"?\w+"?`)
	createdIndex = regexp.MustCompile(`^CREATE( UNIQUE)? INDEX (?:IF NOT EXISTS )?"?\w+"? ON "?\w+"?`)
)

// makeIndexes makes the indexes that the new set still lacks: on SQLite all but the primary keys, because building an
// index of all rows is faster than keeping it up to date. SQLite can't rename one, and each needs a name of its own. So
// the sets take turns: where the live set has an index x, the next one has x_next, and the one after it has x again.
func (r *Rebuild) makeIndexes(ctx context.Context) error {
	s := r.Store
	if s.server() {
		return nil
	}
	for _, name := range r.tables() {
		var indexes []struct{ Name, SQL string }
		err := s.db.SelectContext(ctx, &indexes, "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", name)
		for _, index := range indexes {
			copied, is := strings.CutSuffix(index.Name, nextSuffix)
			if !is {
				copied += nextSuffix
			}
			if err == nil {
				_, err = s.db.ExecContext(ctx, createdIndex.ReplaceAllString(index.SQL, fmt.Sprintf("CREATE${1} INDEX IF NOT EXISTS %s ON %s", copied, name+nextSuffix)))
			}
		}
		if err != nil {
			return s.Explain("make the indexes of the table "+name+nextSuffix, err)
		}
	}
	return nil
}

// drop drops every set but the live one. The name of the set in the making is first: a process that still makes it can
// then write nothing more, also on SQLite, where no lock keeps the two apart. Rows are last: rows without positions
// stop a rebuild that is resumed after a kill, positions without rows do not.
func (r *Rebuild) drop(ctx context.Context) error {
	s := r.Store
	_, err := s.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+sets.Name+nextSuffix)
	if err == nil {
		err = s.deleteAll(ctx, "DELETE FROM checkpoints WHERE "+rebuilt, s.rebuilt()...)
	}
	for _, name := range []string{"projection_positions", "dead_letters"} {
		if err == nil {
			err = s.deleteSets(ctx, name)
		}
	}
	for _, name := range r.tables() {
		for _, suffix := range []string{nextSuffix, oldSuffix} {
			if err == nil {
				_, err = s.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+name+suffix)
			}
		}
	}
	return s.Explain("drop the rows that are not live", err)
}

// deleteSets deletes the rows of all sets but the live one. A condition for that would lock the live rows, too.
func (s *Store) deleteSets(ctx context.Context, table string) error {
	var names []string
	err := s.db.SelectContext(ctx, &names, "SELECT DISTINCT projection FROM "+table+" WHERE (projection = ? OR "+rebuilt+") AND NOT ("+ofSet+")",
		slices.Concat([]any{s.projection}, s.rebuilt(), s.set())...)
	for _, name := range names {
		if err == nil {
			err = s.deleteAll(ctx, "DELETE FROM "+table+" WHERE projection = ?", name)
		}
	}
	return err
}

// rebuilt selects the sets of rebuilds, whose names begin with the projection's and the separator.
const rebuilt = "projection > ? AND projection < ?"

func (s *Store) rebuilt() []any {
	return []any{s.projection + setSeparator, s.projection + string(setSeparator[0]+1)}
}

const deletedAtOnce = 5000

// deleteAll runs a DELETE, on a server piece by piece.
func (s *Store) deleteAll(ctx context.Context, statement string, args ...any) error {
	if s.server() {
		statement += fmt.Sprint(" LIMIT ", deletedAtOnce)
	}
	for {
		deleted, err := sqldialect.Changed(ctx, s.db, statement, args...)
		if err != nil || deleted < deletedAtOnce || !s.server() {
			return err
		}
	}
}

// switchTo makes the new set the live one, atomically. It locks writers out while level catches up, and may fail.
func (r *Rebuild) switchTo(ctx context.Context, set string, level func(context.Context, *Store) error) error {
	s := r.Store
	if err := s.making(set).stillMaking(ctx, s.db); err != nil {
		return err
	}
	for _, name := range r.tables() {
		live, err := s.shape(ctx, name)
		next, failed := s.shape(ctx, name+nextSuffix)
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		if !slices.Equal(live, next) {
			return fmt.Errorf("a migration has changed the table %s since the rebuild began: give the rebuild up with --cancel, and begin another one", name)
		}
	}
	if !s.server() {
		return r.switchFile(ctx, set, level)
	}
	for attempt := 1; ; attempt++ {
		err := r.switchServer(ctx, set, level)
		if err == nil || attempt == renameAttempts || !errors.Is(err, projection.ErrTransient) {
			return err
		}
		_ = es.Wait(ctx, time.Second) // if the answer alone was lost, the renaming may still be under way
		if now, err := s.RebuildState(ctx); err == nil && now.Live {
			return nil
		}
	}
}

// keepOthers takes the names of other projections' sets over, if the tables of the new set are still this process's.
func (s *Store) keepOthers(ctx context.Context, set string, db sqlx.ExtContext) error {
	if err := s.making(set).stillMaking(ctx, db); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "DELETE FROM "+sets.Name+nextSuffix+" WHERE projection <> ?", s.projection)
	if err == nil {
		_, err = db.ExecContext(ctx, "INSERT INTO "+sets.Name+nextSuffix+" SELECT * FROM "+sets.Name+" WHERE projection <> ?", s.projection)
	}
	return s.Explain("keep the names of other projections' rows", err)
}

// shape returns the columns and indexes of a table, as far as a migration can add or change them.
func (s *Store) shape(ctx context.Context, table string) (parts []string, err error) {
	query := `SELECT name || ' ' || type AS part FROM pragma_table_info(?)
		UNION ALL SELECT COALESCE((SELECT group_concat(name) FROM pragma_index_info(l.name)), '') FROM pragma_index_list(?) l ORDER BY part`
	if s.server() {
		query = `SELECT CONCAT_WS(' ', column_name, column_type, is_nullable) AS part FROM information_schema.columns
			WHERE table_schema = DATABASE() AND table_name = ?
			UNION ALL SELECT CONCAT_WS(' ', index_name, seq_in_index, column_name) FROM information_schema.statistics
			WHERE table_schema = DATABASE() AND table_name = ? ORDER BY part`
	}
	err = s.db.SelectContext(ctx, &parts, query, table, table)
	return parts, s.Explain("read the columns and indexes of "+table, err)
}

// switchFile is switchTo on SQLite: one transaction, which keeps all other writers out.
func (r *Rebuild) switchFile(ctx context.Context, set string, level func(context.Context, *Store) error) error {
	s := r.Store
	begun, err := s.db.BeginTxx(ctx, s.dialect.Writing())
	if err != nil {
		return s.Explain("begin the switch", err)
	}
	next := s.making(set)
	next.within, next.reader = begun, begun
	err = level(ctx, next)
	if err == nil {
		err = s.keepOthers(ctx, set, begun)
	}
	for _, name := range r.tables() {
		for _, renamed := range []string{name + " RENAME TO " + name + oldSuffix, name + nextSuffix + " RENAME TO " + name} {
			if err == nil {
				_, err = begun.ExecContext(ctx, "ALTER TABLE "+renamed)
			}
		}
	}
	if err != nil {
		return errors.Join(s.Explain("switch to the new rows", err), begun.Rollback())
	}
	return s.Explain("commit the switch", commit(ctx, begun))
}

const (
	// lockedFor is how long the server keeps the lock of a switch whose process says nothing.
	lockedFor = 20 * time.Second
	// renamedIn is how soon the renaming has to follow: a process that was paused must not rename without the lock.
	renamedIn = 2 * time.Second
	// renameWait is how long the renaming waits for queries to end. Those that come meanwhile wait for it.
	renameWait     = 2 // s
	renameAttempts = 10
)

// switchServer is switchTo on MySQL and MariaDB, where renaming ends a transaction: so the lock has its own connection.
func (r *Rebuild) switchServer(ctx context.Context, set string, level func(context.Context, *Store) error) error {
	s := r.Store
	lock, err := s.connect(ctx, lockedFor)
	if err != nil {
		return err
	}
	defer sqldialect.Discard(lock)
	begun, err := lock.BeginTx(ctx, s.dialect.Writing())
	if err != nil {
		return s.Explain("begin the switch", err)
	}
	defer func() { _ = begun.Rollback() }() // it writes nothing
	keepOut := func() error {
		var term uint64
		err := begun.QueryRowContext(ctx, "SELECT term FROM projection_turn WHERE id = 1 FOR UPDATE").Scan(&term)
		return s.Explain("keep writers out for the switch", err)
	}
	if err := keepOut(); err != nil {
		return err
	}
	err = level(ctx, s.making(set))
	if err == nil {
		err = s.keepOthers(ctx, set, s.db)
	}
	if err != nil {
		return err
	}
	conn, err := s.connect(ctx, renamedIn)
	if err != nil {
		return err
	}
	defer sqldialect.Discard(conn)
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout = %d", renameWait)); err != nil {
		return s.Explain("prepare the renaming", err)
	}
	if err := keepOut(); err != nil {
		return err
	}
	var pairs []string
	for _, name := range r.tables() {
		pairs = append(pairs, name+" TO "+name+oldSuffix, name+nextSuffix+" TO "+name)
	}
	_, err = conn.ExecContext(ctx, "RENAME TABLE "+strings.Join(pairs, ", "))
	return s.Explain("switch to the new rows", err)
}
