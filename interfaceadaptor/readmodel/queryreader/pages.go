package queryreader

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.com/threads/es/rowstore/table"
	"example.com/threads/usecase/query"
)

// Page reads a page of a list, whose rows are columns of a table. scope are the arguments of the list.
func Page[R query.Positioned](ctx context.Context, r *Reader, of table.Table[R], l List, page query.Range, scope ...any) (query.Page[R], error) {
	var s unionStatement
	l.add(&s, page, scope...)
	found := foundPage[R]{}
	err := run(ctx, r, &s, of, found.take)
	return found.page(l, page), err
}

// foundPage are the rows that were read for a page.
type foundPage[R query.Positioned] map[selectPart][]R

func (f foundPage[R]) take(p selectPart, row R) { f[p] = append(f[p], row) }

// page returns the requested page.
func (f foundPage[R]) page(l List, asked query.Range) query.Page[R] {
	items := f[partItems]
	slices.SortFunc(items, func(a, b R) int {
		if l.Descending {
			a, b = b, a
		}
		return a.Position().Compare(b.Position())
	})
	page := query.Page[R]{Items: items, HasPrevious: len(f[partPrevious]) > 0, HasNext: len(f[partNext]) > 0}
	if surplus := len(items) - asked.Limit; surplus > 0 && asked.Backward {
		page.Items, page.HasPrevious = items[surplus:], true
	} else if surplus > 0 {
		page.Items, page.HasNext = items[:asked.Limit], true
	}
	return page
}

// List defines how the rows of a list are selected and ordered.
//
// A page is one SELECT per part, joined by UNION ALL: the rows with a limit and, for each bound of the range, one row
// beyond it, which shows whether there are more rows. So several pages of several lists need one statement, and each
// part is a short index scan. (A window function would also need one statement, but reads every list to its end.)
type List struct {
	From       string // FROM ... WHERE ... that selects the list, with placeholders for its scope
	Columns    string
	At, ID     string // the columns that order the list
	Descending bool
}

// selectPart is the purpose of a SELECT.
type selectPart int

const (
	partItems    selectPart = iota // rows of the page, and one more
	partPrevious                   // a row at or before the position After
	partNext                       // a row at or after the position Before
	partMany                       // any row: the list is too long for this statement
)

// unionStatement is an SQL statement with its arguments.
type unionStatement struct {
	sql  strings.Builder
	args []any
	size int // number of SELECTs
}

// add adds the SELECTs for one list's page.
func (l List) add(s *unionStatement, page query.Range, scope ...any) {
	for _, p := range partsOf(page) {
		l.addPart(s, p, scope...)
	}
}

// selection is the part of a list that a SELECT reads.
type selection struct {
	part     selectPart
	backward bool // from the end
	offset   int
	limit    int
	bounds   []bound
}

// bound restricts a selection to one side of a position.
type bound struct {
	beyond bool // after the position in the list's order, not before it
	orAt   bool // including the position
	of     query.Position
}

// partsOf returns what a page needs.
func partsOf(page query.Range) []selection {
	// One row more than the page has shows whether there are more.
	items := selection{part: partItems, backward: page.Backward, limit: page.Limit + 1}
	var parts []selection
	if !page.After.IsZero() {
		items.bounds = append(items.bounds, bound{beyond: true, of: page.After})
		parts = append(parts, selection{part: partPrevious, backward: true, limit: 1, bounds: []bound{{orAt: true, of: page.After}}})
	}
	if !page.Before.IsZero() {
		items.bounds = append(items.bounds, bound{of: page.Before})
		parts = append(parts, selection{part: partNext, limit: 1, bounds: []bound{{beyond: true, orAt: true, of: page.Before}}})
	}
	return append(parts, items)
}

func (l List) addPart(s *unionStatement, p selection, scope ...any) {
	s.begin(p.part, l.Columns+" "+l.From, scope...)
	for _, b := range p.bounds {
		side := "<"
		if b.beyond != l.Descending {
			side = ">"
		}
		tie := side
		if b.orAt {
			tie += "="
		}
		// The first condition is redundant, but it lets the database use an index.
		fmt.Fprintf(&s.sql, " AND %[1]s %[3]s= ? AND (%[1]s %[3]s ? OR %[2]s %[4]s ?)", l.At, l.ID, side, tie)
		s.args = append(s.args, b.of.At, b.of.At, b.of.ID)
	}
	order := "ASC"
	if p.backward != l.Descending {
		order = "DESC"
	}
	s.end(fmt.Sprintf(" ORDER BY %[1]s %[3]s, %[2]s %[3]s LIMIT %[4]d OFFSET %[5]d", l.At, l.ID, order, p.limit, p.offset))
}

// begin starts a SELECT of columns from a table, which [unionStatement.end] ends.
func (s *unionStatement) begin(part selectPart, columnsFrom string, args ...any) {
	if s.size++; s.size > 1 {
		s.sql.WriteString("\nUNION ALL ")
	}
	fmt.Fprintf(&s.sql, "SELECT * FROM (SELECT %d AS part, %s", part, columnsFrom)
	s.args = append(s.args, args...)
}

func (s *unionStatement) end(suffix string) { fmt.Fprintf(&s.sql, "%s) AS part%d", suffix, s.size) }

// run calls take with the rows of a statement, in any order.
func run[R any](ctx context.Context, r *Reader, s *unionStatement, of table.Table[R], take func(selectPart, R)) error {
	const doing = "read a list of the read model"
	rows, err := r.db.QueryContext(ctx, s.sql.String(), s.args...)
	if err != nil {
		return r.explain(doing, err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	var found selectPart
	var row R
	fields := append([]any{&found}, of.Fields(&row)...)
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return r.explain(doing, err)
		}
		take(found, row)
	}
	if err := rows.Err(); err != nil {
		return r.explain(doing, err)
	}
	return nil
}
