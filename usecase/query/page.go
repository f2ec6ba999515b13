package query

import (
	"fmt"

	"example.com/threads/domain/ident"
)

// MaxPage is the maximum page size.
const MaxPage = 500

// Position is a position in a list: the value that the list is ordered by, and the id as a tie-breaker. It stays valid
// when its row has moved or is deleted. The zero value means no position.
type Position struct {
	At int64
	ID string
}

// IsZero reports whether p means no position.
func (p Position) IsZero() bool { return p == Position{} }

// Range is a requested page: at most Limit rows between After and Before, both exclusive. Rows are counted from the
// list's beginning or, if Backward, from its end; they are returned in the list's order in both cases.
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

// ParseLimit checks the page size given by the named argument: 1 to [MaxPage]. Anything else is an
// [ident.InvalidError].
func ParseLimit(argument string, n int) (int, error) {
	if n < 1 || n > MaxPage {
		return 0, &ident.InvalidError{Field: argument, Reason: fmt.Sprintf("must be 1 to %d", MaxPage)}
	}
	return n, nil
}
