package projectionstore

import (
	"context"
	"time"

	"example.com/threads/interfaceadaptor/readmodel/table"
)

// Report is how far a projection is as a whole, as the program that runs it last told. Those who read its rows can't
// find out by themselves.
type Report struct {
	CaughtUp      bool          // it has had every event once since its tables were made
	Behind        time.Duration // age of the oldest event that is missing
	BehindRecords int           // events that are missing, or at least so many
	AtLeast       bool          // there may be more of both
	At            time.Time     // when that was so
}

// SaveReport stores a report and tells whether the projection has caught up once, by this report or one before: that is
// never taken back.
func (s *Store) SaveReport(ctx context.Context, report Report) (caughtUp bool, err error) {
	known, err := ReadReport(ctx, s.db, s.projection)
	if err == nil {
		report.CaughtUp = report.CaughtUp || known.CaughtUp
		err = reports.Upsert(ctx, s.db, s.dialect, []reportRow{{s.projection, report, report.Behind.Microseconds()}})
	}
	return report.CaughtUp, s.explain("store how far the projection is", err)
}

// ReadReport reads the report of the projection with this name; the zero value where there is none. An error of the
// database is as the driver has it.
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
