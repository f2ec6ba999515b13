// Package table reads and writes rows of any type by primary key, with few statements for many rows, on MySQL, MariaDB
// and SQLite. A [Table] maps the fields of a row to columns, for reading and writing.
package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/threads/es/internal/sqldialect"
)

// Table maps rows of type R to a table.
type Table[R any] struct {
	Name    string
	Columns []string // those of the primary key first
	Key     int      // number of primary key columns
	// ID returns the primary key of a row.
	ID func(*R) []string
	// Fields returns pointers to the fields of a row in the order of Columns; rows are written from them and scanned
	// into them. [Of] makes them also for types that drivers do not support.
	Fields func(*R) []any
}

// Limits on the keys or rows and, roughly, the bytes of one statement. They are below the limits of servers and
// drivers, and let the statement for many rows be one that is prepared already.
const (
	rowsAtOnce  = 100
	bytesAtOnce = 1 << 20
)

// Queryer is a database or a transaction.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// execer is a database or a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// List returns the columns with an alias of the table, as in "t.id, t.name".
func (t Table[R]) List(alias string) string {
	return alias + "." + strings.Join(t.Columns, ", "+alias+".")
}

// ErrRow says that what is in a row is nothing that can be there.
var ErrRow = errors.New("a row that can't be read")

// Without is the table for reading without some columns, whose fields keep their zero values.
func (t Table[R]) Without(columns ...string) Table[R] {
	left, all := []int{}, t.Fields
	t.Columns = slices.Clone(t.Columns)
	for i, name := range t.Columns {
		if !slices.Contains(columns, name) {
			t.Columns[len(left)] = name
			left = append(left, i)
		}
	}
	t.Columns = t.Columns[:len(left)]
	t.Fields = func(row *R) []any {
		fields := all(row)
		for to, from := range left {
			fields[to] = fields[from]
		}
		return fields[:len(left)]
	}
	return t
}

// In is the same table of another set of tables, whose names end with suffix; "" is the live set.
func (t Table[R]) In(suffix string) Table[R] {
	t.Name += suffix
	return t
}

// Load calls take with each existing row, in the order of the keys. suffix ends the statements, for example with a
// lock. Errors of the database are not wrapped.
func (t Table[R]) Load(ctx context.Context, from Queryer, keys [][]string, suffix string, take func(R)) error {
	order := strings.Join(t.Columns[:t.Key], ", ")
	for some := range slices.Chunk(inOrder(keys), rowsAtOnce) {
		where, args := Where(t.Columns[:t.Key], some)
		err := t.Query(ctx, from, take, "SELECT "+strings.Join(t.Columns, ", ")+" FROM "+t.Name+" WHERE "+where+" ORDER BY "+order+suffix, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Query calls take with each row of the query, whose columns must be those of the table. Errors of the database are not
// wrapped.
func (t Table[R]) Query(ctx context.Context, from Queryer, take func(R), query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	var row R
	fields := t.Fields(&row)
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return fmt.Errorf("%w of %s: %w", ErrRow, t.Name, err)
		}
		take(row)
	}
	return rows.Err()
}

// Insert inserts rows in the order of their keys. It fails if one exists.
func (t Table[R]) Insert(ctx context.Context, into execer, dialect sqldialect.Dialect, rows []R) error {
	return t.write(ctx, into, rows, func(n int) string { return dialect.Insert(t.Name, t.Columns, n) })
}

// Upsert inserts or updates rows, in the order of their keys.
func (t Table[R]) Upsert(ctx context.Context, into execer, dialect sqldialect.Dialect, rows []R) error {
	return t.write(ctx, into, rows, func(n int) string { return dialect.Upsert(t.Name, t.Columns[:t.Key], t.Columns, n) })
}

// write runs statement, built for a number of rows, until all rows are written, in the order of their keys.
func (t Table[R]) write(ctx context.Context, into execer, rows []R, statement func(rows int) string) error {
	text, holds := "", 0
	for left := t.ordered(rows); len(left) > 0; left = left[holds:] {
		n, args, err := t.values(left)
		if err != nil {
			return fmt.Errorf("a value of %s: %w", t.Name, err)
		}
		if n != holds {
			text, holds = statement(n), n
		}
		if _, err := into.ExecContext(ctx, text, args...); err != nil {
			return err
		}
	}
	return nil
}

// values returns the number of the first rows that fit in one statement, and their values.
func (t Table[R]) values(rows []keyed[R]) (n int, values []any, err error) {
	var row R // each row in turn, so that its fields are made once
	fields := t.Fields(&row)
	values = make([]any, 0, min(len(rows), rowsAtOnce)*len(fields))
	for size := 0; n < len(rows) && n < rowsAtOnce && (n == 0 || size < bytesAtOnce); n++ {
		row = *rows[n].row
		for _, field := range fields {
			value, err := valueOf(field)
			if err != nil {
				return n, nil, err
			}
			values, size = append(values, value), size+sizeOf(value)
		}
	}
	return n, values, nil
}

type keyed[R any] struct {
	key []string
	row *R
}

// ordered returns the rows sorted by primary key.
func (t Table[R]) ordered(rows []R) []keyed[R] {
	sorted := make([]keyed[R], len(rows))
	for i := range rows {
		sorted[i] = keyed[R]{t.ID(&rows[i]), &rows[i]}
	}
	slices.SortFunc(sorted, func(a, b keyed[R]) int { return slices.Compare(a.key, b.key) })
	return sorted
}

// Delete deletes the rows with these keys. A missing row is no error.
func (t Table[R]) Delete(ctx context.Context, from execer, keys [][]string) error {
	for some := range slices.Chunk(inOrder(keys), rowsAtOnce) {
		where, args := Where(t.Columns[:t.Key], some)
		if _, err := from.ExecContext(ctx, "DELETE FROM "+t.Name+" WHERE "+where, args...); err != nil {
			return err
		}
	}
	return nil
}

// Where returns the condition that selects keys (at least one, sorted) by columns. It groups the keys that differ only
// in the last column: SQLite and MySQL write lists of tuples differently, and not every optimizer uses the index for
// them.
func Where(columns []string, keys [][]string) (string, []any) {
	last := len(columns) - 1
	var conditions []string
	var args []any
	for len(keys) > 0 {
		group := keys[0][:last]
		end := slices.IndexFunc(keys, func(key []string) bool { return !slices.Equal(key[:last], group) })
		if end < 0 {
			end = len(keys)
		}
		var condition strings.Builder
		for i, column := range columns[:last] {
			condition.WriteString(column + " = ? AND ")
			args = append(args, group[i])
		}
		conditions = append(conditions, "("+condition.String()+columns[last]+" IN ("+sqldialect.Marks(end)+"))")
		for _, key := range keys[:end] {
			args = append(args, key[last])
		}
		keys = keys[end:]
	}
	return strings.Join(conditions, " OR "), args
}

// inOrder returns the keys sorted by primary key, without duplicates.
func inOrder(keys [][]string) [][]string {
	sorted := slices.SortedFunc(slices.Values(keys), slices.Compare)
	return slices.CompactFunc(sorted, slices.Equal)
}

func sizeOf(value any) int {
	switch value := value.(type) {
	case string:
		return len(value)
	case []byte:
		return len(value)
	}
	return 8
}
