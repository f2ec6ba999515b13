package projectionstore

import (
	"context"

	"github.com/jmoiron/sqlx"

	"example.com/threads/interfaceadaptor/readmodel/internal/rowkey"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// tx is one transaction.
type tx struct {
	tx       *sqlx.Tx
	store    *Store
	existing map[usecase.Key]bool // the threads that Load found
}

// Load implements [projection.Tx]. The threads' rows come first and are locked in the order of their keys, and with
// them everything that belongs to the threads: all who write take the same way.
func (t *tx) Load(ctx context.Context, wanted projection.Wanted) (projection.Rows, error) {
	rows := projection.NewRows()
	keys := threadRowKeys(wanted.Threads)
	lock := t.store.dialect.ForUpdate()
	err := load(ctx, t, threads, "id", keys, lock, func(record threadRecord) error {
		row, err := record.row()
		rows.Threads[row.Key] = row
		t.existing[row.Key] = true
		return err
	})
	if err != nil {
		return rows, err
	}
	err = load(ctx, t, deadLetters, "thread_id", keys, lock, func(record deadLetterRecord) error {
		row, err := record.row()
		rows.Parked[row.Key] = row
		return err
	})
	if err != nil {
		return rows, err
	}
	err = load(ctx, t, members, "id", rowkey.InOrder(wanted.Members, memberRowKey), "", func(record memberRecord) error {
		row, err := record.row()
		rows.Members[row.Key] = row
		return err
	})
	if err != nil {
		return rows, err
	}
	err = load(ctx, t, messages, "id", rowkey.InOrder(wanted.Messages, messageRowKey), "", func(record messageRecord) error {
		row, err := record.row()
		rows.Messages[row.Key] = row
		return err
	})
	return rows, err
}

// load reads the rows of a table by their keys.
func load[R any](ctx context.Context, t *tx, from table, idColumn string, keys []rowkey.Key, lock string, take func(R) error) error {
	return eachKeys(keys, func(keys []rowkey.Key) error {
		where, args := rowkey.Where(idColumn, keys)
		query := "SELECT " + list(from.columns) + " FROM " + from.name + " WHERE " + where + " ORDER BY " + list(from.key) + lock
		var found []R
		if err := t.tx.SelectContext(ctx, &found, query, args...); err != nil {
			return t.store.classified("read "+from.name, err)
		}
		for _, record := range found {
			if err := take(record); err != nil {
				return err
			}
		}
		return nil
	})
}
