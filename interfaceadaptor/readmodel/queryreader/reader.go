// Package queryreader implements the ports of usecase/query with SQL that runs on MySQL, MariaDB and SQLite.
//
// Every statement is restricted to the tenant. A page is found by its position, not by counting rows. The pages of
// several lists are read in one statement that reads no more rows than it returns.
package queryreader

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/usecase/query"
)

// Reader reads the read model. It implements the ports of usecase/query and is safe for concurrent use.
type Reader struct {
	db *sqlx.DB
	on Run
}

// Reading reads rows from a database. It may be run again: only the last time counts.
type Reading = func(ctx context.Context, db *sqlx.DB) error

// Run runs a reading on a database of its choice.
type Run = func(context.Context, Reading) error

var _ query.Reader = (*Reader)(nil)

// New returns a reader of the read model in db.
func New(db *sqlx.DB) *Reader {
	return &Reader{db, func(ctx context.Context, reading Reading) error { return reading(ctx, db) }}
}

// From returns a reader of the same rows; run wraps what selects the database of each reading. // extra:replica|tenants {
func (r *Reader) From(run func(former Run) Run) *Reader { return &Reader{r.db, run(r.on)} } // extra:replica|tenants }

// One reads one row; if there is none it returns the error missing.
func One[R any](ctx context.Context, r *Reader, of table.Table[R], missing error, statement string, args ...any) (found R, err error) {
	exists := false
	err = r.on(ctx, func(ctx context.Context, db *sqlx.DB) error {
		exists = false
		return of.Query(ctx, db, func(row R) { found, exists = row, true }, statement, args...)
	})
	if err == nil && !exists {
		return found, missing
	}
	return found, database.Explain("read the read model", err)
}

// Versions returns the version of each aggregate that the read model has, for a [projection.Watcher].
func (r *Reader) Versions(ctx context.Context, keys []es.AggregateID) (versions map[es.AggregateID]uint64, err error) {
	positions, err := rowstore.New(r.db, chatrows.Projection)
	if err == nil {
		versions, err = positions.Versions(ctx, keys)
	}
	return versions, database.Explain("read versions of the read model", err)
}

// Page reads a page of a list, whose rows are columns of a table. scope are the arguments of the list.
func Page[R query.Positioned](ctx context.Context, r *Reader, of table.Table[R], l List, page query.Range, scope ...any) (query.Page[R], error) {
	items, err := read(ctx, r, of, l, page, 0, scope...)
	return pageOf(l, items, page), err
}

// pageOf returns the page of the rows that were found for it, in any order.
func pageOf[R query.Positioned](l List, items []R, asked query.Range) query.Page[R] {
	slices.SortFunc(items, func(a, b R) int {
		if l.Descending {
			a, b = b, a
		}
		return a.Position().Compare(b.Position())
	})
	page := query.Page[R]{Items: items, HasPrevious: !asked.After.IsZero(), HasNext: !asked.Before.IsZero()}
	if surplus := len(items) - asked.Limit; surplus > 0 && asked.Backward {
		page.Items, page.HasPrevious = items[surplus:], true
	} else if surplus > 0 {
		page.Items, page.HasNext = items[:asked.Limit], true
	}
	return page
}

// List defines how the rows of a list are selected and ordered.
type List struct {
	From       string // FROM ... WHERE ... that selects the list, with placeholders for its scope
	Columns    string
	At         string // the column that orders the list
	ID         string // the column that orders rows of the same At; "": there are none, which spares SQLite a sort
	Descending bool
}

// unionStatement joins SELECTs by UNION ALL: each is a short index scan, where a window function would read all.
type unionStatement struct {
	selects []string
	args    []any
}

func (s *unionStatement) add(columnsFrom string, args ...any) {
	s.selects = append(s.selects, fmt.Sprintf("SELECT %d AS part, %s", len(s.selects), columnsFrom))
	s.args = append(s.args, args...)
}

// text returns the statement. SQLite needs a fifth longer for a single SELECT in a subquery.
func (s *unionStatement) text() string {
	if len(s.selects) == 1 {
		return s.selects[0]
	}
	parts := make([]string, len(s.selects))
	for i, one := range s.selects {
		parts[i] = fmt.Sprintf("SELECT * FROM (%s) AS part%d", one, i)
	}
	return strings.Join(parts, "\nUNION ALL ")
}

// add adds the SELECT of a page, and of one row more, which shows whether there are more. It leaves out the first rows.
func (l List) add(s *unionStatement, page query.Range, leftOut int, scope ...any) {
	text, args := l.Columns+" "+l.From, slices.Clone(scope)
	after, before, order := ">", "<", "ASC"
	if l.Descending {
		after, before = before, after
	}
	if page.Backward != l.Descending {
		order = "DESC"
	}
	for _, bound := range []struct {
		side string
		of   query.Position
	}{{after, page.After}, {before, page.Before}} {
		switch {
		case bound.of.IsZero():
		case l.ID == "":
			text += fmt.Sprintf(" AND %s %s ?", l.At, bound.side)
			args = append(args, bound.of.At)
		default:
			// The first condition is redundant, but it lets the database use an index.
			text += fmt.Sprintf(" AND %[1]s %[3]s= ? AND (%[1]s %[3]s ? OR %[2]s %[3]s ?)", l.At, l.ID, bound.side)
			args = append(args, bound.of.At, bound.of.At, bound.of.ID)
		}
	}
	text += fmt.Sprintf(" ORDER BY %s %s", l.At, order)
	if l.ID != "" {
		text += fmt.Sprintf(", %s %s", l.ID, order)
	}
	s.add(text+fmt.Sprintf(" LIMIT %d OFFSET %d", page.Limit+1, leftOut), args...)
}

// run returns the rows of a statement, in any order, for each of its SELECTs, which is expected to have so many.
func run[R any](ctx context.Context, r *Reader, s *unionStatement, of table.Table[R], expected int) (found [][]R, err error) {
	found = make([][]R, len(s.selects))
	err = r.on(ctx, func(ctx context.Context, db *sqlx.DB) error {
		for i := range found {
			found[i] = make([]R, 0, expected)
		}
		rows, err := db.QueryContext(ctx, s.text(), s.args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // rows.Err has the error
		var part int
		var row R
		fields := append([]any{&part}, of.Fields(&row)...)
		for err == nil && rows.Next() {
			err = rows.Scan(fields...)
			found[part] = append(found[part], row)
		}
		return cmp.Or(err, rows.Err())
	})
	return found, database.Explain("read a list of the read model", err)
}

// read returns the rows of a page and one more from one list, without the first ones, in any order.
func read[R any](
	ctx context.Context, r *Reader, of table.Table[R], l List, page query.Range, leftOut int, scope ...any,
) ([]R, error) {
	var s unionStatement
	l.add(&s, page, leftOut, scope...)
	found, err := run(ctx, r, &s, of, page.Limit+1)
	return found[0], err
}
