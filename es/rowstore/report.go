package rowstore

import (
	"context"
	"time"

	"example.com/threads/es/rowstore/table"
)

// Report is the progress of a projection, as reported by the program that runs it. Readers of the rows cannot compute
// it.
type Report struct {
	CaughtUp      bool          // every event was projected at least once since the tables were created
	Behind        time.Duration // age of the oldest unprojected event
	BehindRecords int           // unprojected events, or a lower bound
	AtLeast       bool          // both values may be higher
	At            time.Time     // time of the report
}

// SaveReport stores a report. It returns whether the projection has caught up once, in this report or an earlier one;
// this is never reset.
func (s *Store) SaveReport(ctx context.Context, report Report) (caughtUp bool, err error) {
	known, err := ReadReport(ctx, s.db, s.projection)
	if err == nil {
		report.CaughtUp = report.CaughtUp || known.CaughtUp
		err = reports.Upsert(ctx, s.db, s.dialect, []reportRow{{s.projection, report, report.Behind.Microseconds()}})
	}
	return report.CaughtUp, s.explain("store the progress of the projection", err)
}

// ReadReport returns the report of a projection; zero if there is none. Errors of the database are not wrapped.
func ReadReport(ctx context.Context, from table.Queryer, name string) (found Report, err error) {
	err = reports.Load(ctx, from, [][]string{{name}}, "", func(row reportRow) {
		found = row.Report
		found.Behind = time.Duration(row.behind) * time.Microsecond
	})
	return found, err
}

// Report is the report of the store's projection.
func (s *Store) Report(ctx context.Context) (Report, error) {
	found, err := ReadReport(ctx, s.db, s.projection)
	return found, s.explain("read how far the projection is", err)
}

type reportRow struct {
	projection string
	Report
	behind int64
}

var reports = table.Table[reportRow]{
	Name: "projection_reports", Key: 1,
	Columns: []string{"projection", "caught_up", "behind_micros", "behind_records", "at_least", "reported_at"},
	ID:      func(r *reportRow) []string { return []string{r.projection} },
	Fields: func(r *reportRow) []any {
		return []any{&r.projection, &r.CaughtUp, &r.behind, &r.BehindRecords, &r.AtLeast, table.Time(&r.At)}
	},
}
