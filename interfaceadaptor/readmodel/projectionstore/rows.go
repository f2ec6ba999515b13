package projectionstore

import (
	"context"
	"maps"
	"slices"

	"example.com/threads/interfaceadaptor/readmodel/table"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// Rows is the [projection.RowStore] of a table whose primary key is the tenant's code and the aggregate's id.
type Rows[R any] struct {
	Table table.Table[R]
}

// LoadRows implements [projection.RowStore].
func (r Rows[R]) LoadRows(ctx context.Context, tx projection.Tx, keys []usecase.Key) (map[usecase.Key]R, error) {
	in, err := SQL(tx)
	if err != nil {
		return nil, err
	}
	primaries := make([][]string, len(keys))
	named := make(map[[2]string]usecase.Key, len(keys))
	for i, key := range keys {
		primaries[i] = []string{key.Tenant.String(), key.ID}
		named[[2]string(primaries[i])] = key
	}
	found := make(map[usecase.Key]R, len(keys))
	err = r.Table.Load(ctx, in, primaries, "", func(row R) { found[named[[2]string(r.Table.ID(&row))]] = row })
	return found, in.Explain("read "+r.Table.Name, err)
}

// SaveRows implements [projection.RowStore].
func (r Rows[R]) SaveRows(ctx context.Context, tx projection.Tx, rows map[usecase.Key]R) error {
	in, err := SQL(tx)
	if err != nil {
		return err
	}
	return in.Explain("write "+r.Table.Name, r.Table.Upsert(ctx, in, in.Dialect, slices.Collect(maps.Values(rows))))
}
