// Package rowstore stores the state of projections on MySQL, MariaDB and SQLite: positions of aggregates, dead
// letters, checkpoints of sources and known aggregate types, each under the projection's name. It belongs to the
// engine. The rows of a projection are in tables of the application, which are written in the same transaction through
// [SQL]; a [Rebuild] makes them anew. [Schema] creates the tables.
package rowstore

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore/table"
)

// Store implements [projection.Store] and [projection.Checkpoints] for one projection in a relational database.
type Store struct {
	db         *sqlx.DB
	dialect    sqldialect.Dialect
	projection string
	term       uint64              // of the turn that Change needs; 0: none
	next       string              // the name of the set that it works on while a rebuild makes that; "": the live set
	within     *sqlx.Tx            // the transaction of a switch that everything happens in; nil: each has its own
	reader     sqlx.QueryerContext // within, or db
}

// maxName leaves room in columns of 64 characters for the number that a rebuild adds to the name.
const maxName = 50

// New returns the store of the named projection: 1 to 50 printable ASCII characters without @. The database must have
// the tables.
func New(db *sqlx.DB, name string) (*Store, error) {
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || string(r) == setSeparator }) {
		return nil, fmt.Errorf("a projection has a name of 1 to %d printable ASCII characters without @; %q is none", maxName, name)
	}
	dialect, err := sqldialect.Of(db)
	if err != nil {
		return nil, err
	}
	return &Store{db: db, reader: db, dialect: dialect, projection: name}, nil
}

// server tells that the database is a server, and no file.
func (s *Store) server() bool { return s.db.DriverName() == "mysql" }

// InTerm is the same store for a turn to write: once another has begun, Change fails with [projection.ErrTermOver].
func (s *Store) InTerm(term uint64) *Store {
	own := *s
	own.term = term
	return &own
}

// Parked implements [projection.Store].
func (s *Store) Parked(ctx context.Context, due time.Time, after es.AggregateID, limit int) (letters []projection.DeadLetter, err error) {
	where, keys := s.beyond("", after)
	err = deadLetters.Select(ctx, s.db, func(letter projection.DeadLetter) { letters = append(letters, letter) },
		"WHERE "+ofSet+" AND (retry_at <= ? OR retry_at > ?) AND "+where,
		slices.Concat(s.set(), []any{due.UnixMicro(), due.Add(farAhead).UnixMicro()}, keys, []any{limit})...)
	return letters, s.Explain("read dead letters", err)
}

// Types implements [projection.Store].
func (s *Store) Types(ctx context.Context) (types []projection.Type, err error) {
	err = aggregateTypes.Select(ctx, s.db, func(row typeRow) { types = append(types, row.Type) },
		"WHERE projection = ?", s.projection)
	return types, s.Explain("read aggregate types", err)
}

// Checkpoints implements [projection.Checkpoints].
func (s *Store) Checkpoints(ctx context.Context, source string) ([]projection.Checkpoint, error) {
	found := []projection.Checkpoint{}
	err := checkpoints.Select(ctx, s.db, func(row checkpointRow) { found = append(found, row.Checkpoint) },
		"WHERE projection = ? AND source = ?", s.owner(), source)
	return found, s.Explain("read checkpoints", err)
}

// Forget implements [projection.Checkpoints].
func (s *Store) Forget(ctx context.Context, source string, shards ...string) error {
	keys := make([][]string, len(shards))
	for i, shard := range shards {
		keys[i] = []string{s.projection, source, shard}
	}
	return s.Explain("forget checkpoints", checkpoints.Delete(ctx, s.db, keys))
}

// CountParked returns the number of parked aggregates.
func (s *Store) CountParked(ctx context.Context) (parked int, err error) {
	err = s.db.GetContext(ctx, &parked, "SELECT COUNT(*) FROM dead_letters WHERE "+ofSet, s.set()...)
	return parked, s.Explain("count the parked aggregates", err)
}

// public is an error whose text may be told to anybody; see es.PublicReason.
type public string

func (p public) Error() string  { return string(p) }
func (p public) Reason() string { return string(p) }

// Explain adds what failed and classifies the error for the projection; nil stays nil.
func (s *Store) Explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, table.ErrRow) { // its aggregate can't go on, until a repair makes the row again
		return fmt.Errorf("%s: %w: %w", doing, projection.ErrRefused, err)
	}
	switch sqldialect.ClassOf(err) {
	case sqldialect.Transient:
		return fmt.Errorf("%s: %w: %w", doing, projection.ErrTransient, err)
	case sqldialect.Refused, sqldialect.Duplicate:
		return fmt.Errorf("%s: %w: %w", doing, projection.ErrRefused, err)
	case sqldialect.Full:
		return fmt.Errorf("%s: %w: %w", doing, public("the disk of the read model is full: free space"), err)
	case sqldialect.Lacking:
		return fmt.Errorf("%s: %w: a migration must add the column", doing, err)
	case sqldialect.Fault, sqldialect.Ended, sqldialect.Damaged:
	}
	return fmt.Errorf("%s: %w", doing, err)
}

//go:embed migrations/*/*.sql
var migrations embed.FS

// Schema returns the migrations of all tables of projections, and of the commands of process managers.
func Schema() migration.Set {
	return migration.Set{Name: "projections", Table: "projections_migrations", Files: migrations, Folder: "migrations"}
}

// Report is the progress of a projection, as the program that runs it reports it to readers of the rows.
type Report struct {
	projection.Lag
	CaughtUp bool      `db:"caught_up"`   // every event was projected once since the tables were created
	At       time.Time `db:"reported_at"` // time of the report
}

// SaveReport stores a report. It returns whether the projection has caught up once, in this report or an earlier one.
func (s *Store) SaveReport(ctx context.Context, report Report) (caughtUp bool, err error) {
	known, err := ReadReport(ctx, s.db, s.projection)
	if err == nil {
		report.CaughtUp = report.CaughtUp || known.CaughtUp
		err = reports.Upsert(ctx, s.db, s.dialect, []reportRow{{s.projection, report, report.Behind.Microseconds()}})
	}
	return report.CaughtUp, s.Explain("store the progress of the projection", err)
}

// ReadReport returns the report of a projection; zero if there is none. Errors of the database are not wrapped.
func ReadReport(ctx context.Context, from sqlx.QueryerContext, name string) (found Report, err error) {
	err = reports.Load(ctx, from, [][]string{{name}}, "", func(row reportRow) {
		found = row.Report
		found.Behind = time.Duration(row.Micros) * time.Microsecond
	})
	return found, err
}

// A set is the rows of a projection in one set of tables, with the positions and dead letters that belong to them. The
// tables of the live set have their plain names. Which positions are theirs stands in row_sets, a table of the set
// itself: so a statement that renames the tables changes both together.

// setOf is the name of a projection's live set: its own where there has been no rebuild.
func setOf(ctx context.Context, from sqlx.QueryerContext, name string) (string, error) {
	found := name
	err := sets.Load(ctx, from, [][]string{{name}}, "", func(row setRow) { found = row.Name })
	return found, err
}

// setSeparator stands between a projection's name and the number of the rebuild.
const setSeparator = "@"

// ofSet is the condition for what belongs to the live set of a projection, or to another set. Its argument is the name
// of either, twice.
const ofSet = "projection = COALESCE((SELECT set_name FROM row_sets WHERE projection = ?), ?)"

// set returns the arguments of ofSet for the set that the store works on.
func (s *Store) set() []any { return []any{s.owner(), s.owner()} }

// making is the store of the set with this name while a rebuild makes it.
func (s *Store) making(set string) *Store {
	own := *s
	own.next, own.term = set, 0
	return &own
}

// owner is the name that checkpoints are under.
func (s *Store) owner() string { return cmp.Or(s.next, s.projection) }

type (
	positionRow struct {
		Set string `db:"projection"`
		projection.AtVersion
		Parked bool `db:"parked"` // there is a dead letter
	}
	typeRow struct {
		Projection string `db:"projection"`
		projection.Type
		UpdatedAt time.Time `db:"updated_at"`
	}
	checkpointRow struct {
		Projection string `db:"projection"`
		projection.Checkpoint
		UpdatedAt time.Time `db:"updated_at"`
	}
	setRow struct {
		Projection string `db:"projection"`
		Name       string `db:"set_name"`
		Handlers   string `db:"handlers"`
	}
	reportRow struct {
		Projection string `db:"projection"`
		Report
		Micros int64 `db:"behind_micros"`
	}
)

var (
	positions      = table.Of[positionRow]("projection_positions", 4)
	deadLetters    = table.Of[projection.DeadLetter]("dead_letters", 4)
	aggregateTypes = table.Of[typeRow]("projection_types", 2)
	checkpoints    = table.Of[checkpointRow]("checkpoints", 3)
	sets           = table.Of[setRow]("row_sets", 1)
	rebuilds       = table.Of[RebuildState]("projection_rebuilds", 1)
	reports        = table.Of[reportRow]("projection_reports", 1)
	skips          = table.Of[Skip]("skipped_events", 5)
	skippedEvents  = skips.Without("name")
)

// Limits for unreadable values in dead letters: longer ones are cut to fit the columns.
const (
	eventIDKept = 64   // code points
	reasonKept  = 2000 // code points
)

// letterIn is a dead letter as it is stored in a set.
func letterIn(set string, letter projection.DeadLetter) projection.DeadLetter {
	letter.Projection, letter.EventID, letter.Reason = set, Cut(letter.EventID, eventIDKept), Cut(letter.Reason, reasonKept)
	letter.Payload = []byte{} // no NULL
	return letter
}

// Cut returns the first code points of a text, of which any may come.
func Cut(text string, kept int) string {
	points := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	return string(points[:min(len(points), kept)])
}
