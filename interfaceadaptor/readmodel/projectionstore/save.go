package projectionstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.com/threads/interfaceadaptor/readmodel/internal/rowkey"
	"example.com/threads/interfaceadaptor/sqldialect"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// A statement writes at most so many rows and, roughly, so many bytes, which keeps it below the limits of servers and
// drivers.
const (
	rowsAtOnce  = 500
	bytesAtOnce = 1 << 20
)

// Save implements [projection.Tx].
func (t *tx) Save(ctx context.Context, changes projection.Changes) error {
	if err := t.saveThreads(ctx, changes.Rows.Threads); err != nil {
		return err
	}
	if err := t.upsert(ctx, members, valuesOf(changes.Rows.Members, memberValues)); err != nil {
		return err
	}
	if err := t.upsert(ctx, messages, valuesOf(changes.Rows.Messages, messageValues)); err != nil {
		return err
	}
	if err := t.upsert(ctx, deadLetters, valuesOf(changes.Rows.Parked, deadLetterValues)); err != nil {
		return err
	}
	if err := t.release(ctx, changes.Released); err != nil {
		return err
	}
	if changes.Checkpoint == (projection.Checkpoint{}) {
		return nil
	}
	checkpoint := changes.Checkpoint
	return t.upsert(ctx, checkpoints, [][]any{{checkpoint.Source, checkpoint.Shard, checkpoint.Position, changes.At.UnixMicro()}})
}

// saveThreads changes the threads that were there, and then makes those that were not. One that is there now has been
// made by another transaction, with events that this one does not know of: so this one has to begin again.
func (t *tx) saveThreads(ctx context.Context, rows map[usecase.Key]projection.Thread) error {
	made := make(map[usecase.Key]projection.Thread)
	changed := make(map[usecase.Key]projection.Thread)
	for key, row := range rows {
		if t.existing[key] {
			changed[key] = row
		} else {
			made[key] = row
		}
	}
	if err := t.upsert(ctx, threads, valuesOf(changed, threadValues)); err != nil {
		return err
	}
	err := t.write(ctx, valuesOf(made, threadValues), func(rows int) string {
		return t.store.dialect.Insert(threads.name, threads.columns, rows)
	})
	switch {
	case err == nil:
		return nil
	case t.store.dialect.Classify(err) == sqldialect.Duplicate:
		return fmt.Errorf("make threads: %w: %w", projection.ErrTransient, err)
	default:
		return t.store.classified("make threads", err)
	}
}

func (t *tx) upsert(ctx context.Context, into table, rows [][]any) error {
	err := t.write(ctx, rows, func(rows int) string {
		return t.store.dialect.Upsert(into.name, into.key, into.columns, rows)
	})
	if err != nil {
		return t.store.classified("write "+into.name, err)
	}
	return nil
}

// write runs statement, made for a number of rows, until all rows are written.
func (t *tx) write(ctx context.Context, rows [][]any, statement func(rows int) string) error {
	for len(rows) > 0 {
		n, size := 0, 0
		var args []any
		for n < len(rows) && n < rowsAtOnce && (n == 0 || size < bytesAtOnce) {
			args = append(args, rows[n]...)
			size += sizeOf(rows[n])
			n++
		}
		if _, err := t.tx.ExecContext(ctx, statement(n), args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func (t *tx) release(ctx context.Context, released []usecase.Key) error {
	return eachKeys(threadRowKeys(released), func(keys []rowkey.Key) error {
		where, args := rowkey.Where("thread_id", keys)
		if _, err := t.tx.ExecContext(ctx, "DELETE FROM dead_letters WHERE "+where, args...); err != nil {
			return t.store.classified("take dead letters away", err)
		}
		return nil
	})
}

// valuesOf are the columns of rows, in the order of their keys, which are the first two.
func valuesOf[K comparable, R any](rows map[K]R, values func(R) []any) [][]any {
	result := make([][]any, 0, len(rows))
	for _, row := range rows {
		result = append(result, values(row))
	}
	slices.SortFunc(result, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[0].(string), b[0].(string)), cmp.Compare(a[1].(string), b[1].(string)))
	})
	return result
}

func sizeOf(values []any) int {
	size := 0
	for _, value := range values {
		switch value := value.(type) {
		case string:
			size += len(value)
		case []byte:
			size += len(value)
		default:
			size += 8
		}
	}
	return size
}
