package rowstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore/table"
)

// Load reads the rows whose keys are in rows, and removes the keys without a row. primary returns a primary key: the
// tenant's code and an id.
func Load[K comparable, R any](ctx context.Context, tx projection.Tx, from table.Table[R], rows map[K]R, primary func(K) [2]string) error {
	in := SQL(tx)
	from = from.In(in.Suffix)
	named := make(map[[2]string]K, len(rows))
	primaries := make([][]string, 0, len(rows))
	for key := range rows {
		id := primary(key)
		named[id] = key
		primaries = append(primaries, id[:])
	}
	clear(rows)
	err := from.Load(ctx, in, primaries, "", func(row R) { rows[named[[2]string(from.ID(&row))]] = row })
	return in.Explain("read "+from.Name, err)
}

// Save inserts or updates rows.
func Save[K comparable, R any](ctx context.Context, tx projection.Tx, into table.Table[R], rows map[K]R) error {
	in := SQL(tx)
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
	in := SQL(tx)
	_, err := in.ExecContext(ctx, "DELETE FROM "+p.Table.In(in.Suffix).Name+" WHERE "+p.Where, p.Args...)
	return in.Explain("delete from "+p.Table.Name, err)
}

// Compare reports how the rows differ from the expected ones, some of which may be missing. It reads one at a time.
func (p Part[R]) Compare(ctx context.Context, tx projection.Tx, want iter.Seq[R], mayMiss func(R) bool, tell func(projection.Difference)) error {
	in := SQL(tx)
	add := func(row, what, expected, found string) {
		tell(projection.Difference{Key: p.Key, Row: row, What: what, Expected: expected, Found: found})
	}
	missing := make(map[string]R)
	for row := range want {
		missing[p.Table.Describe(row)] = row
	}
	err := p.Table.In(in.Suffix).Select(ctx, in, func(found R) {
		name := p.Table.Describe(found)
		expected, known := missing[name]
		if !known {
			add(name, "a row that no event makes", "no row", "a row")
			return
		}
		delete(missing, name)
		p.Table.Compare(expected, found, func(column, expected, found string) {
			add(name, column, fmt.Sprintf("%.200q", expected), fmt.Sprintf("%.200q", found))
		})
	}, "WHERE "+p.Where, p.Args...)
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

// OneRow returns the handler of aggregates that have one row each, in a table whose primary key is the tenant's code
// and the aggregate's id. version is that of the rows; see [projection.Verifiable]. 0 means 1. next returns the row
// after the next event of its aggregate; exists: there was a row. It sets the key, too, and is pure; see
// [projection.Fold] for its error.
func OneRow[E, R any](
	in table.Table[R], events *es.Codec[E], version int, next func(row R, exists bool, event es.Recorded[E]) (R, error),
) projection.Verifiable {
	return oneRow[E, R]{events, in, max(version, 1), next}
}

// oneRow implements [projection.Verifiable].
type oneRow[E, R any] struct {
	*es.Codec[E]
	table   table.Table[R]
	version int
	next    func(row R, exists bool, event es.Recorded[E]) (R, error)
}

func (h oneRow[E, R]) RowsVersion() int { return h.version }

func (h oneRow[E, R]) Load(ctx context.Context, tx projection.Tx, events []projection.Event) (projection.Fold, error) {
	rows := make(map[es.AggregateID]R, len(events))
	var none R
	for _, event := range events {
		rows[event.Aggregate()] = none
	}
	err := Load(ctx, tx, h.table, rows, primaryOf)
	return &rowsInMemory[E, R]{handler: h, rows: rows}, err
}

func primaryOf(key es.AggregateID) [2]string { return [2]string{key.Tenant.String(), key.ID} }

func (h oneRow[E, R]) Shadow(key es.AggregateID, _ uint64) projection.Shadow {
	return &rowsInMemory[E, R]{handler: h, key: key, rows: make(map[es.AggregateID]R)}
}

func (h oneRow[E, R]) Clear(ctx context.Context, tx projection.Tx, key es.AggregateID) error {
	return h.part(key).Delete(ctx, tx)
}

func (h oneRow[E, R]) part(key es.AggregateID) Part[R] {
	where, args := table.Where(h.table.Columns[:2], [][]string{{key.Tenant.String(), key.ID}})
	return Part[R]{key, h.table, where, args}
}

// rowsInMemory are the rows of one transaction, or the row that one aggregate should have. All are saved, changed or
// not. It implements [projection.Shadow].
type rowsInMemory[E, R any] struct {
	handler oneRow[E, R]
	key     es.AggregateID
	rows    map[es.AggregateID]R
}

func (m *rowsInMemory[E, R]) Apply(event projection.Event) error {
	before, exists := m.rows[event.Aggregate()]
	own := es.Recorded[E]{Envelope: event.Envelope, Event: event.Event.(E)} // of Decode
	row, err := m.handler.next(before, exists, own)
	if key := m.handler.table.ID(&row); err == nil && [2]string(key) != primaryOf(event.Aggregate()) {
		err = fmt.Errorf("the row of %s has the key %q: the function for the next row must set the tenant's code and the id", event.Aggregate(), key)
	}
	if err == nil {
		m.rows[event.Aggregate()] = row
	}
	return err
}

func (m *rowsInMemory[E, R]) Save(ctx context.Context, tx projection.Tx) error {
	return Save(ctx, tx, m.handler.table, m.rows)
}

func (m *rowsInMemory[E, R]) Compare(ctx context.Context, tx projection.Tx, tell func(projection.Difference)) error {
	return m.handler.part(m.key).Compare(ctx, tx, maps.Values(m.rows), func(R) bool { return false }, tell)
}

func (m *rowsInMemory[E, R]) Rest() (after uint64, more bool) { return 0, false }
