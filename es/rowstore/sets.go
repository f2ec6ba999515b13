package rowstore

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// A set is the rows of a projection in one set of tables, with the positions and dead letters that belong to them. The
// tables of the live set have their plain names. Which positions are theirs stands in row_sets, a table of the set
// itself: so a statement that renames the tables changes both together.

// setOf is the name of a projection's live set: its own where there has been no rebuild.
func setOf(ctx context.Context, from sqlx.QueryerContext, name string) (string, error) {
	found := name
	err := sets.Load(ctx, from, [][]string{{name}}, "", func(row setRow) { found = row.Name })
	return found, err
}

// setSeparator stands between a projection's name and the number of the rebuild.
const setSeparator = "@"

// ofLiveSet is the condition for what belongs to the live set of a projection, whose name is its argument twice.
const ofLiveSet = "projection = COALESCE((SELECT set_name FROM row_sets WHERE projection = ?), ?)"

// ofSet returns the condition for what belongs to the set that the store works on.
func (s *Store) ofSet() (where string, args []any) {
	if s.next != "" {
		return "projection = ?", []any{s.next}
	}
	return ofLiveSet, []any{s.projection, s.projection}
}

// making is the store of the set with this name while a rebuild makes it.
func (s *Store) making(set string) *Store {
	own := *s
	own.next, own.term = set, 0
	return &own
}

// owner is the name that checkpoints are under.
func (s *Store) owner() string { return cmp.Or(s.next, s.projection) }

// enter makes what has begun a transaction on the store's set. One on the live set shares a lock with the others until
// it ends, so that no other set takes its place meanwhile. The lock comes first: a transaction that waits for it must
// not have touched a table that is about to be renamed.
func (s *Store) enter(ctx context.Context, begun *sqlx.Tx) (*Tx, error) {
	tx := &Tx{Tx: begun, Dialect: s.dialect, store: s, existing: make(map[es.AggregateID]bool)}
	if s.next != "" {
		tx.set, tx.Suffix = s.next, nextSuffix
		return tx, s.stillMaking(ctx, begun)
	}
	var term uint64
	if err := begun.GetContext(ctx, &term, "SELECT term FROM projection_turn WHERE id = 1"+s.dialect.ForShare()); err != nil {
		return nil, s.Explain("see whose turn it is", err)
	}
	if s.term != 0 && s.term != term {
		return nil, fmt.Errorf("%w: its term is %d, and this one's was %d", projection.ErrTermOver, term, s.term)
	}
	var err error
	tx.set, err = setOf(ctx, begun, s.projection)
	return tx, s.Explain("read which rows are live", err)
}

// stillMaking fails if the tables of the set in the making are another's: this process has lost the lock on rebuilds.
func (s *Store) stillMaking(ctx context.Context, begun *sqlx.Tx) error {
	found := ""
	err := sets.In(nextSuffix).Load(ctx, begun, [][]string{{s.projection}}, "", func(row setRow) { found = row.Name })
	if err == nil && found != s.next {
		return fmt.Errorf("%w: they are those of the set %q, not of %q", projection.ErrTermOver, found, s.next)
	}
	return s.Explain("see which set is being made", err)
}

// changeWithin is Change in the transaction of a switch. Its error ends the switch: without ErrTransient and ErrRefused
// nothing is tried again over what was written before.
func (s *Store) changeWithin(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	tx, err := s.enter(ctx, s.within)
	if err == nil {
		err = change(ctx, tx)
	}
	if err != nil {
		return fmt.Errorf("while writers wait for the switch: %v", err) //nolint:errorlint // see above
	}
	return nil
}
