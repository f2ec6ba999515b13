package query

import (
	"fmt"

	"example.com/threads/domain/ident"
)

// MaxPage is the largest page that can be asked for.
const MaxPage = 500

// Position is a place in a list: the value that the list is ordered by, and the id for rows that have the same. A page that
// begins behind a position is found by it, wherever it is and whether or not its row is still there. The zero value is no
// position.
type Position struct {
	At int64
	ID string
}

// IsZero tells that p is no position.
func (p Position) IsZero() bool { return p == Position{} }

// Range is the page that is asked for: at most Limit rows of those between After and Before, both left out, from the
// list's beginning or, if Backward, from its end. Rows always come in the list's order.
type Range struct {
	After, Before Position // zero: from the beginning, to the end
	Limit         int
	Backward      bool
}

// Page is a part of a list.
type Page[T any] struct {
	Items       []T
	HasPrevious bool // there is a row before the first of Items
	HasNext     bool // there is a row after the last of Items
}

// ParseLimit reads how many rows are asked for by the argument of the given name: 1 to [MaxPage], anything else is a
// [ident.InvalidError].
func ParseLimit(argument string, n int) (int, error) {
	if n < 1 || n > MaxPage {
		return 0, &ident.InvalidError{Field: argument, Reason: fmt.Sprintf("must be 1 to %d", MaxPage)}
	}
	return n, nil
}
