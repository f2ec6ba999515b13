package queryreader

import (
	"context"
	"fmt"
	"strings"

	"example.com/threads/interfaceadaptor/readmodel/table"
	"example.com/threads/usecase/query"
)

// list defines how the rows of a list are selected and ordered.
//
// A page is one SELECT per part, joined by UNION ALL: the rows with a limit and, for each bound of the range, one row
// beyond it, which shows whether there are more rows. So several pages of several lists need one statement, and each
// part is a short index scan. (A window function would also need one statement, but reads every list to its end.)
type list struct {
	from       string // FROM ... WHERE ... that selects the list, with placeholders for its scope
	columns    string
	at, id     string // the columns that order the list
	descending bool
}

// part is the purpose of a SELECT.
type part int

const (
	partItems    part = iota // rows of the page, and one more
	partPrevious             // a row at or before the position After
	partNext                 // a row at or after the position Before
)

// statement is an SQL statement with its arguments.
type statement struct {
	sql  strings.Builder
	args []any
	size int // number of SELECTs
}

// maxSelects is the maximum number of SELECTs in one SQLite statement with UNION ALL.
const maxSelects = 500

// selects returns the number of SELECTs for one list's page.
func selects(page query.Range) int {
	n := 1
	if !page.After.IsZero() {
		n++
	}
	if !page.Before.IsZero() {
		n++
	}
	return n
}

// add adds the SELECTs for one list's page.
func (l list) add(s *statement, page query.Range, scope ...any) {
	var bounds []bound
	if !page.After.IsZero() {
		bounds = append(bounds, bound{beyond: true, of: page.After})
		l.addPart(s, partPrevious, scope, true, 1, bound{orAt: true, of: page.After})
	}
	if !page.Before.IsZero() {
		bounds = append(bounds, bound{of: page.Before})
		l.addPart(s, partNext, scope, false, 1, bound{beyond: true, orAt: true, of: page.Before})
	}
	l.addPart(s, partItems, scope, page.Backward, page.Limit+1, bounds...) // one more shows whether there are more
}

// bound restricts a part to one side of a position.
type bound struct {
	beyond bool // after the position in the list's order, not before it
	orAt   bool // including the position
	of     query.Position
}

func (l list) addPart(s *statement, part part, scope []any, backward bool, limit int, bounds ...bound) {
	if s.size++; s.size > 1 {
		s.sql.WriteString("\nUNION ALL ")
	}
	fmt.Fprintf(&s.sql, "SELECT * FROM (SELECT %d AS part, %s %s", part, l.columns, l.from)
	s.args = append(s.args, scope...)
	for _, b := range bounds {
		side := "<"
		if b.beyond != l.descending {
			side = ">"
		}
		tie := side
		if b.orAt {
			tie += "="
		}
		// The first condition is redundant, but it lets the database use an index.
		fmt.Fprintf(&s.sql, " AND %[1]s %[3]s= ? AND (%[1]s %[3]s ? OR %[2]s %[4]s ?)", l.at, l.id, side, tie)
		s.args = append(s.args, b.of.At, b.of.At, b.of.ID)
	}
	order := "ASC"
	if backward != l.descending {
		order = "DESC"
	}
	fmt.Fprintf(&s.sql, " ORDER BY %[1]s %[3]s, %[2]s %[3]s LIMIT %[4]d) AS part%[5]d", l.at, l.id, order, limit, s.size)
}

// run calls take with the rows of a statement, in any order.
func run[R any](ctx context.Context, r *Reader, s *statement, of table.Table[R], take func(part, R)) error {
	const doing = "read a list of the read model"
	rows, err := r.db.QueryContext(ctx, s.sql.String(), s.args...)
	if err != nil {
		return r.explain(doing, err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	var found part
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
