package table_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
	"example.com/threads/es/rowstore/table"
)

func TestAConditionGoesGroupByGroup(t *testing.T) {
	for _, test := range []struct {
		keys  [][]string
		where string
		args  string
	}{
		{[][]string{{"acme", "1"}}, "(tenant = ? AND id IN (?))", "[acme 1]"},
		{[][]string{{"", "3"}, {"a", "9"}, {"b", "1"}, {"b", "2"}},
			"(tenant = ? AND id IN (?)) OR (tenant = ? AND id IN (?)) OR (tenant = ? AND id IN (?, ?))", "[ 3 a 9 b 1 2]"},
	} {
		where, args := table.Where([]string{"tenant", "id"}, slices.Clone(test.keys))
		if where != test.where || fmt.Sprint(args) != test.args {
			t.Errorf("%v: %s with %v", test.keys, where, args)
		}
	}
}

func TestARowThatCanNotBeReadBlamesNobody(t *testing.T) {
	type owned struct {
		Tenant es.Tenant `db:"tenant_code"`
	}
	var row owned
	fields := table.Of[owned]("names", 1).Fields(&row)
	field, scans := fields[0].(interface{ Scan(any) error })
	if !scans {
		t.Fatal("the field can't be scanned into")
	}
	if err := field.Scan("not a tenant"); err == nil || es.KindOf(err) != es.Internal {
		t.Errorf("got %v", err)
	}
	if err := field.Scan([]byte("acme")); err != nil || row.Tenant.String() != "acme" {
		t.Errorf("got %q, %v", row.Tenant, err)
	}
}

// failing is a database whose statements fail after some.
type failing struct {
	good    int
	written []any
}

func (f *failing) ExecContext(_ context.Context, _ string, args ...any) (sql.Result, error) {
	if f.good--; f.good < 0 {
		return nil, errors.New("the disk is full")
	}
	f.written = append(f.written, args...)
	return nil, nil
}

// Many rows are written in the order of their keys by several statements, and none follows one that fails.
func TestManyRowsAreWrittenInOrder(t *testing.T) {
	type row struct {
		Name string `db:"name"`
	}
	names := table.Of[row]("names", 1)
	rows, want := make([]row, 250), make([]any, 250)
	for i := range rows {
		rows[len(rows)-1-i] = row{fmt.Sprintf("%03d", i)}
		want[i] = fmt.Sprintf("%03d", i)
	}
	for _, c := range []struct{ good, written int }{{0, 0}, {1, 100}, {2, 200}, {3, 250}} {
		into := &failing{good: c.good}
		err := names.Insert(t.Context(), into, sqldialect.Dialect{}, rows)
		if (err == nil) != (c.written == len(rows)) || !slices.Equal(into.written, want[:c.written]) {
			t.Errorf("after %d statements: %v, and %d rows in the order %v", c.good, err, len(into.written), into.written)
		}
	}
}
