// Package table reads and writes rows of any type by their primary keys, a few statements for any number of them, on
// MySQL, MariaDB and SQLite. A [Table] says once how a row and its columns belong together, for readers and writers.
package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/threads/interfaceadaptor/sqldialect"
)

// Table is how rows of type R are kept.
type Table[R any] struct {
	Name    string
	Columns []string // those of the primary key first
	Key     int      // how many they are
	// ID is the primary key of a row.
	ID func(*R) []string
	// Fields are pointers to the fields of a row in the order of Columns, from which a statement takes their values and
	// into which rows are scanned. See [Time] and [Tenant] for fields that a driver does not know.
	Fields func(*R) []any
}

// A statement takes at most so many keys or rows and, roughly, so many bytes, which keeps it below the limits of
// servers and drivers.
const (
	rowsAtOnce  = 500
	bytesAtOnce = 1 << 20
)

// Queryer is a database or a transaction.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Execer is a database or a transaction.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// List is the columns with an alias of the table before each, as in "t.id, t.name".
func (t Table[R]) List(alias string) string {
	return alias + "." + strings.Join(t.Columns, ", "+alias+".")
}

// ErrRow says that what is in a row is nothing that can be there.
var ErrRow = errors.New("a row that can't be read")

// In is the same table of another set of tables, whose names end with suffix; "" is the live set.
func (t Table[R]) In(suffix string) Table[R] {
	t.Name += suffix
	return t
}

// Load calls take with each of the rows that are there, in the order of the keys. suffix is the end of the statements,
// such as a lock. An error of the database is as the driver has it.
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

// Query calls take with each row that query gives, whose columns are those of the table. An error of the database is as
// the driver has it.
func (t Table[R]) Query(ctx context.Context, from Queryer, take func(R), query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // what matters is rows.Err
	for rows.Next() {
		var row R
		if err := rows.Scan(t.Fields(&row)...); err != nil {
			return fmt.Errorf("%w of %s: %w", ErrRow, t.Name, err)
		}
		take(row)
	}
	return rows.Err()
}

// Insert makes rows, in the order of their keys. It fails where one is there already.
func (t Table[R]) Insert(ctx context.Context, into Execer, dialect sqldialect.Dialect, rows []R) error {
	return t.write(ctx, into, rows, func(n int) string { return dialect.Insert(t.Name, t.Columns, n) })
}

// Upsert makes rows or changes those that are there, in the order of their keys.
func (t Table[R]) Upsert(ctx context.Context, into Execer, dialect sqldialect.Dialect, rows []R) error {
	return t.write(ctx, into, rows, func(n int) string { return dialect.Upsert(t.Name, t.Columns[:t.Key], t.Columns, n) })
}

// write runs statement, made for a number of rows, until all rows are written.
func (t Table[R]) write(ctx context.Context, into Execer, rows []R, statement func(rows int) string) error {
	slices.SortFunc(rows, func(a, b R) int { return slices.Compare(t.ID(&a), t.ID(&b)) })
	for len(rows) > 0 {
		n, size := 0, 0
		var args []any
		for n < len(rows) && n < rowsAtOnce && (n == 0 || size < bytesAtOnce) {
			fields := t.Fields(&rows[n])
			args = append(args, fields...)
			size += sizeOf(fields)
			n++
		}
		if _, err := into.ExecContext(ctx, statement(n), args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// Delete takes the rows with these keys away. One that is not there is no error.
func (t Table[R]) Delete(ctx context.Context, from Execer, keys [][]string) error {
	for some := range slices.Chunk(inOrder(keys), rowsAtOnce) {
		where, args := Where(t.Columns[:t.Key], some)
		if _, err := from.ExecContext(ctx, "DELETE FROM "+t.Name+" WHERE "+where, args...); err != nil {
			return err
		}
	}
	return nil
}

// Where is the condition that finds keys, one at least and in order, by columns. It goes group by group of those that
// differ in the last column only: a list of tuples is written differently on SQLite and MySQL, and not every optimizer
// reads ranges of the index for it.
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

// inOrder are keys in the order of the primary key, each once.
func inOrder(keys [][]string) [][]string {
	sorted := slices.SortedFunc(slices.Values(keys), slices.Compare)
	return slices.CompactFunc(sorted, slices.Equal)
}

func sizeOf(fields []any) int {
	size := 0
	for _, field := range fields {
		switch field := field.(type) {
		case *string:
			size += len(*field)
		case *[]byte:
			size += len(*field)
		default:
			size += 8
		}
	}
	return size
}
