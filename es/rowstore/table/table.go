// Package table reads and writes rows of any type by primary key, with few statements for many rows, on MySQL, MariaDB
// and SQLite. A [Table] maps the fields of a row to columns, for reading and writing: declare it once per table, as
// var Orders = table.Of[Order]("orders", 2), where Order is a struct with db tags and the key has two columns. In the
// transaction of a handler Load reads rows by their keys, and Upsert and Delete change them; Select and Query read for
// queries.
package table

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
)

// Table maps rows of type R to a table; see [Of].
type Table[R any] struct {
	Name    string
	Columns []string // those of the primary key first
	key     [][]int  // the fields of R that are the primary key
	fields  [][]int  // those of Columns
}

// rowsAtOnce limits the keys or rows of one statement, so that large ones are prepared only once.
const rowsAtOnce = 100

// List returns the columns with an alias of the table, as in "t.id, t.name".
func (t Table[R]) List(alias string) string {
	return alias + "." + strings.Join(t.Columns, ", "+alias+".")
}

// ErrRow says that what is in a row is nothing that can be there.
var ErrRow = errors.New("a row that can't be read")

// Without is the table for reading without some columns, whose fields keep their zero values.
func (t Table[R]) Without(columns ...string) Table[R] {
	left := Table[R]{Name: t.Name, key: t.key}
	for i, name := range t.Columns {
		if !slices.Contains(columns, name) {
			left.Columns, left.fields = append(left.Columns, name), append(left.fields, t.fields[i])
		}
	}
	return left
}

// In is the same table of another set of tables, whose names end with suffix; "" is the live set.
func (t Table[R]) In(suffix string) Table[R] {
	t.Name += suffix
	return t
}

// Load calls take with each existing row, in the order of the keys. suffix ends the statements, as with a lock. Errors
// of the database are not wrapped.
func (t Table[R]) Load(ctx context.Context, from sqlx.QueryerContext, keys [][]string, suffix string, take func(R)) error {
	order := strings.Join(t.Columns[:len(t.key)], ", ")
	for some := range slices.Chunk(inOrder(keys), rowsAtOnce) {
		where, args := Where(t.Columns[:len(t.key)], some)
		if err := t.Select(ctx, from, take, "WHERE "+where+" ORDER BY "+order+suffix, args...); err != nil {
			return err
		}
	}
	return nil
}

// Select calls take with each row that the rest of a statement selects. Errors of the database are not wrapped.
func (t Table[R]) Select(ctx context.Context, from sqlx.QueryerContext, take func(R), rest string, args ...any) error {
	return t.Query(ctx, from, take, "SELECT "+strings.Join(t.Columns, ", ")+" FROM "+t.Name+" "+rest, args...)
}

// Query is Select with a whole query, whose columns must be those of the table.
func (t Table[R]) Query(ctx context.Context, from sqlx.QueryerContext, take func(R), query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	var row R
	fields := t.Fields(&row)
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			if over := cmp.Or(rows.Err(), ctx.Err()); over != nil {
				return over
			}
			return fmt.Errorf("%w of %s: %w", ErrRow, t.Name, err)
		}
		take(row)
	}
	return rows.Err()
}

// Insert inserts rows in the order of their keys. It fails if one exists.
func (t Table[R]) Insert(ctx context.Context, into sqlx.ExecerContext, dialect sqldialect.Dialect, rows []R) error {
	return t.write(ctx, into, rows, func(n int) string { return dialect.Insert(t.Name, t.Columns, n) })
}

// Upsert inserts or updates rows, in the order of their keys.
func (t Table[R]) Upsert(ctx context.Context, into sqlx.ExecerContext, dialect sqldialect.Dialect, rows []R) error {
	return t.write(ctx, into, rows, func(n int) string { return dialect.Upsert(t.Name, t.Columns[:len(t.key)], t.Columns, n) })
}

// write runs statement, built for a number of rows, until all rows are written, in the order of their keys.
func (t Table[R]) write(ctx context.Context, into sqlx.ExecerContext, rows []R, statement func(rows int) string) error {
	var row R // each row in turn, so that its fields are made once
	fields := t.Fields(&row)
	for some := range slices.Chunk(t.ordered(rows), rowsAtOnce) {
		args := make([]any, 0, len(some)*len(fields))
		for _, one := range some {
			row = *one.row
			for _, field := range fields {
				value, err := driver.DefaultParameterConverter.ConvertValue(field)
				if err != nil {
					return fmt.Errorf("a value of %s: %w", t.Name, err)
				}
				args = append(args, value)
			}
		}
		if _, err := into.ExecContext(ctx, statement(len(some)), args...); err != nil {
			return err
		}
	}
	return nil
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
func (t Table[R]) Delete(ctx context.Context, from sqlx.ExecerContext, keys [][]string) error {
	for some := range slices.Chunk(inOrder(keys), rowsAtOnce) {
		where, args := Where(t.Columns[:len(t.key)], some)
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

// Of returns the table of rows of type R. Tags name the columns of its fields and of those of embedded structs, as in
// `db:"created_at"`; the first key columns are the primary key. A field is a string, a number, a bool, a time, a
// tenant, a type with String and UnmarshalText, whose zero value is stored as empty text, or a struct of these, such as
// the id of an aggregate, with the columns of its fields as in `db:"tenant_code,aggregate_type,aggregate_id"`.
func Of[R any](name string, key int) Table[R] {
	t := Table[R]{Name: name}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		switch columns := strings.Split(field.Tag.Get("db"), ","); {
		case columns[0] == "":
		case len(columns) == 1:
			t.Columns, t.fields = append(t.Columns, columns[0]), append(t.fields, field.Index)
		default:
			for i, column := range columns {
				t.Columns, t.fields = append(t.Columns, column), append(t.fields, append(slices.Clone(field.Index), i))
			}
		}
	}
	t.key = t.fields[:key]
	return t
}

// Fields returns pointers to the fields of a row in the order of Columns, for reading and writing.
func (t Table[R]) Fields(row *R) []any {
	fields, in := make([]any, len(t.fields)), reflect.ValueOf(row).Elem()
	for i, index := range t.fields {
		fields[i] = fieldOf(in.FieldByIndex(index).Addr())
	}
	return fields
}

// ID returns the primary key of a row.
func (t Table[R]) ID(row *R) []string {
	id, in := make([]string, len(t.key)), reflect.ValueOf(row).Elem()
	for i, index := range t.key {
		id[i] = stored(fieldOf(in.FieldByIndex(index).Addr()))
	}
	return id
}

func fieldOf(field reflect.Value) any {
	switch field := field.Interface().(type) {
	case *es.Tenant:
		return &textField{field: field, parse: func(text string) (err error) {
			*field, err = es.ParseTenant(text)
			return err
		}}
	case *time.Time:
		return &micros{at: field}
	case interface {
		fmt.Stringer
		encoding.TextUnmarshaler
	}:
		var buffer []byte // reused from row to row
		return &textField{field: field, parse: func(text string) error {
			if text == "" {
				reflect.ValueOf(field).Elem().SetZero()
				return nil
			}
			buffer = append(buffer[:0], text...)
			return field.UnmarshalText(buffer)
		}}
	}
	if field.Elem().Kind() == reflect.String {
		return field.Convert(reflect.TypeFor[*string]()).Interface()
	}
	return field.Interface()
}

// textField is a field that is stored as text. An invalid stored value is no error of the caller: it is not wrapped.
type textField struct {
	field fmt.Stringer
	parse func(string) error
	found sql.Null[string] // reused from row to row
}

func (f *textField) Scan(source any) error {
	if err := f.found.Scan(source); err != nil {
		return err
	}
	if err := f.parse(f.found.V); err != nil {
		return fmt.Errorf("%q can't be read: %v", f.found.V, err) //nolint:errorlint // see above
	}
	return nil
}

func (f *textField) Value() (driver.Value, error) { return f.field.String(), nil }

// micros is a time that is stored as microseconds since 1970.
type micros struct {
	at    *time.Time
	found sql.Null[int64] // a number or, of MySQL, its text
}

func (f *micros) Scan(source any) error {
	err := f.found.Scan(source)
	*f.at = time.UnixMicro(f.found.V).UTC()
	return err
}

func (f *micros) Value() (driver.Value, error) { return f.at.UnixMicro(), nil }

// Compare tells the columns in which found is not what was expected, with the values as they are stored.
func (t Table[R]) Compare(expected, found R, tell func(column, expected, found string)) {
	want, have := t.Fields(&expected), t.Fields(&found)
	for i, column := range t.Columns {
		if left, right := stored(want[i]), stored(have[i]); left != right {
			tell(column, left, right)
		}
	}
}

// Describe is the key of a row, for people.
func (t Table[R]) Describe(row R) string {
	id := t.ID(&row)
	return t.Name + " " + id[len(id)-1]
}

// stored is a field as text, the way it is stored.
func stored(field any) string {
	value, err := driver.DefaultParameterConverter.ConvertValue(field)
	if err != nil { // nothing that can be stored
		return fmt.Sprint(reflect.Indirect(reflect.ValueOf(field)).Interface())
	}
	if text, is := value.(string); is {
		return text
	}
	return fmt.Sprint(value)
}
