package rowstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore/table"
)

// Rows is the [projection.RowStore] of a table whose primary key is the tenant's code and the aggregate's id.
type Rows[R any] struct {
	Table table.Table[R]
}

// LoadRows implements [projection.RowStore].
func (r Rows[R]) LoadRows(ctx context.Context, tx projection.Tx, keys []es.AggregateID) (map[es.AggregateID]R, error) {
	in, err := SQL(tx)
	if err != nil {
		return nil, err
	}
	primaries := make([][]string, len(keys))
	named := make(map[[2]string]es.AggregateID, len(keys))
	for i, key := range keys {
		primaries[i] = []string{key.Tenant.String(), key.ID}
		named[[2]string(primaries[i])] = key
	}
	found := make(map[es.AggregateID]R, len(keys))
	err = r.Table.In(in.Suffix).Load(ctx, in, primaries, "", func(row R) { found[named[[2]string(r.Table.ID(&row))]] = row })
	return found, in.Explain("read "+r.Table.Name, err)
}

// SaveRows implements [projection.RowStore].
func (r Rows[R]) SaveRows(ctx context.Context, tx projection.Tx, rows map[es.AggregateID]R) error {
	in, err := SQL(tx)
	if err != nil {
		return err
	}
	return in.Explain("write "+r.Table.Name, r.Table.In(in.Suffix).Upsert(ctx, in, in.Dialect, slices.Collect(maps.Values(rows))))
}

// DeleteRow implements [projection.RowStore].
func (r Rows[R]) DeleteRow(ctx context.Context, tx projection.Tx, key es.AggregateID) error {
	in, err := SQL(tx)
	if err != nil {
		return err
	}
	return in.Explain("delete from "+r.Table.Name, r.Table.In(in.Suffix).Delete(ctx, in, [][]string{{key.Tenant.String(), key.ID}}))
}

// CompareRow implements [projection.RowStore].
func (r Rows[R]) CompareRow(ctx context.Context, tx projection.Tx, key es.AggregateID, want *R, tell func(projection.Difference)) error {
	add := func(what, expected, found string) {
		tell(projection.Difference{Key: key, Row: r.Table.Name + " " + key.ID, What: what, Expected: expected, Found: found})
	}
	rows, err := r.LoadRows(ctx, tx, []es.AggregateID{key})
	if errors.Is(err, table.ErrRow) {
		add("it holds what can't be there", "values of its columns", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	found, exists := rows[key]
	switch {
	case want == nil && exists:
		add("a row that no event makes", "no row", "a row")
	case want != nil && !exists:
		add("a row is missing", "a row", "no row")
	case want != nil:
		for _, column := range r.Table.Differences(*want, found) {
			add(column.Column, fmt.Sprintf("%.200q", column.Expected), fmt.Sprintf("%.200q", column.Found))
		}
	}
	return nil
}
