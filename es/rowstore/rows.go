package rowstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore/table"
)

// Load reads the rows whose keys are in rows, and removes the keys without a row. primary returns the primary key of
// the row: the tenant's code and an id.
func Load[K comparable, R any](ctx context.Context, tx projection.Tx, from table.Table[R], rows map[K]R, primary func(K) [2]string) error {
	in, err := SQL(tx)
	if err != nil {
		return err
	}
	from = from.In(in.Suffix)
	named := make(map[[2]string]K, len(rows))
	primaries := make([][]string, 0, len(rows))
	for key := range rows {
		id := primary(key)
		named[id] = key
		primaries = append(primaries, id[:])
	}
	clear(rows)
	err = from.Load(ctx, in, primaries, "", func(row R) { rows[named[[2]string(from.ID(&row))]] = row })
	return in.Explain("read "+from.Name, err)
}

// Save inserts or updates rows.
func Save[K comparable, R any](ctx context.Context, tx projection.Tx, into table.Table[R], rows map[K]R) error {
	in, err := SQL(tx)
	if err != nil {
		return err
	}
	values := slices.AppendSeq(make([]R, 0, len(rows)), maps.Values(rows))
	return in.Explain("write "+into.Name, into.In(in.Suffix).Upsert(ctx, in, in.Dialect, values))
}

// Part is all or some rows of an aggregate in a table: those for which a condition holds.
type Part[R any] struct {
	Key   es.AggregateID
	Table table.Table[R]
	Where string
	Args  []any
}

// Delete deletes the rows.
func (p Part[R]) Delete(ctx context.Context, tx projection.Tx) error {
	in, err := SQL(tx)
	if err == nil {
		_, err = in.ExecContext(ctx, "DELETE FROM "+p.Table.In(in.Suffix).Name+" WHERE "+p.Where, p.Args...)
		err = in.Explain("delete from "+p.Table.Name, err)
	}
	return err
}

// Compare reports how the rows differ from the expected ones, some of which may be missing. It holds one stored row in
// memory at a time.
func (p Part[R]) Compare(ctx context.Context, tx projection.Tx, want iter.Seq[R], mayMiss func(R) bool, tell func(projection.Difference)) error {
	in, err := SQL(tx)
	if err != nil {
		return err
	}
	add := func(row, what, expected, found string) {
		tell(projection.Difference{Key: p.Key, Row: row, What: what, Expected: expected, Found: found})
	}
	missing := make(map[string]R)
	for row := range want {
		missing[p.Table.Describe(row)] = row
	}
	statement := "SELECT " + strings.Join(p.Table.Columns, ", ") + " FROM " + p.Table.In(in.Suffix).Name + " WHERE " + p.Where
	err = p.Table.Query(ctx, in, func(found R) {
		name := p.Table.Describe(found)
		expected, known := missing[name]
		if !known {
			add(name, "a row that no event makes", "no row", "a row")
			return
		}
		delete(missing, name)
		for _, column := range p.Table.Differences(expected, found) {
			add(name, column.Column, fmt.Sprintf("%.200q", column.Expected), fmt.Sprintf("%.200q", column.Found))
		}
	}, statement, p.Args...)
	if errors.Is(err, table.ErrRow) {
		add("a row of "+p.Table.Name, "it holds what can't be there", "values of its columns", err.Error())
		return nil // the other differences are unknown; a repair makes these rows again, too
	}
	if err != nil {
		return in.Explain("compare "+p.Table.Name, err)
	}
	for name, row := range missing {
		if !mayMiss(row) {
			add(name, "a row is missing", "a row", "no row")
		}
	}
	return nil
}

// Rows is the [projection.RowStore] of a table whose primary key is the tenant's code and the aggregate's id.
type Rows[R any] struct {
	Table table.Table[R]
}

func primaryOf(key es.AggregateID) [2]string { return [2]string{key.Tenant.String(), key.ID} }

// LoadRows implements [projection.RowStore].
func (r Rows[R]) LoadRows(ctx context.Context, tx projection.Tx, keys []es.AggregateID) (map[es.AggregateID]R, error) {
	var none R
	found := make(map[es.AggregateID]R, len(keys))
	for _, key := range keys {
		found[key] = none
	}
	return found, Load(ctx, tx, r.Table, found, primaryOf)
}

// SaveRows implements [projection.RowStore].
func (r Rows[R]) SaveRows(ctx context.Context, tx projection.Tx, rows map[es.AggregateID]R) error {
	return Save(ctx, tx, r.Table, rows)
}

// DeleteRow implements [projection.RowStore].
func (r Rows[R]) DeleteRow(ctx context.Context, tx projection.Tx, key es.AggregateID) error {
	return r.part(key).Delete(ctx, tx)
}

// CompareRow implements [projection.RowStore].
func (r Rows[R]) CompareRow(ctx context.Context, tx projection.Tx, key es.AggregateID, want *R, tell func(projection.Difference)) error {
	var expected []R
	if want != nil {
		expected = []R{*want}
	}
	return r.part(key).Compare(ctx, tx, slices.Values(expected), func(R) bool { return false }, tell)
}

func (r Rows[R]) part(key es.AggregateID) Part[R] {
	primary := primaryOf(key)
	where, args := table.Where(r.Table.Columns[:2], [][]string{primary[:]})
	return Part[R]{key, r.Table, where, args}
}
