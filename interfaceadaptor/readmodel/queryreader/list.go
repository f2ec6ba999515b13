package queryreader

import (
	"context"
	"fmt"
	"strings"

	"example.com/threads/interfaceadaptor/readmodel/table"
	"example.com/threads/usecase/query"
)

// list is how the rows of a list are selected and ordered.
//
// A page is asked for as one SELECT for each of its parts, joined by UNION ALL: the rows themselves, with a limit, and
// where the range has a border, one row beyond it, which tells whether there is something there. So several pages of
// several lists are one statement, and each part is a short walk along an index. (Numbering rows with a window function
// would be one statement, too, but reads every list to its end.)
type list struct {
	from       string // FROM ... WHERE ..., down to the list, with the placeholders of its scope
	columns    string
	at, id     string // what the list is ordered by
	descending bool
}

// part is what a row of the answer is there for.
type part int

const (
	partItems    part = iota // it is in the page, or one too many for it
	partPrevious             // it is not behind the position After
	partNext                 // it is not before the position Before
)

// statement is SQL and its arguments.
type statement struct {
	sql  strings.Builder
	args []any
	size int // SELECTs
}

// maxSelects is how many SELECTs SQLite joins by UNION ALL in one statement.
const maxSelects = 500

// selects is the number of SELECTs for one list's page.
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

// add adds the parts of one list's page.
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
	l.addPart(s, partItems, scope, page.Backward, page.Limit+1, bounds...) // one more tells whether there are more
}

// bound keeps a part to one side of a position.
type bound struct {
	beyond bool // behind the position in the list's order, not before it
	orAt   bool // or at it
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
		// The first condition says nothing new, but an index can follow it.
		fmt.Fprintf(&s.sql, " AND %[1]s %[3]s= ? AND (%[1]s %[3]s ? OR %[2]s %[4]s ?)", l.at, l.id, side, tie)
		s.args = append(s.args, b.of.At, b.of.At, b.of.ID)
	}
	order := "ASC"
	if backward != l.descending {
		order = "DESC"
	}
	fmt.Fprintf(&s.sql, " ORDER BY %[1]s %[3]s, %[2]s %[3]s LIMIT %[4]d) AS part%[5]d", l.at, l.id, order, limit, s.size)
}

// run returns the rows of a statement, in no order.
func run[R positioned](ctx context.Context, r *Reader, s *statement, of table.Table[R]) (found []item[R], err error) {
	const doing = "read a list of the read model"
	rows, err := r.db.QueryContext(ctx, s.sql.String(), s.args...)
	if err != nil {
		return nil, r.explain(doing, err)
	}
	defer func() { _ = rows.Close() }() // what matters is rows.Err
	for rows.Next() {
		var next item[R]
		if err := rows.Scan(append([]any{&next.part}, of.Fields(&next.row)...)...); err != nil {
			return nil, r.explain(doing, err)
		}
		found = append(found, next)
	}
	if err := rows.Err(); err != nil {
		return nil, r.explain(doing, err)
	}
	return found, nil
}
