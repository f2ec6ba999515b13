package query

import (
	"cmp"
	"strings"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// Viewer is the user of a query. A viewer sees only threads of the tenant that are not deleted and that the user is a
// member of.
type Viewer struct {
	Tenant es.Tenant
	User   ident.UserID
}

// Audit has the executors of a row's first and last events, and the addresses and the request of them. The APIs do not
// show the addresses, the request and its source.
type Audit struct {
	CreatedBy ident.UserID `db:"created_by"` // executor of the first event in the row
	UpdatedBy ident.UserID `db:"updated_by"` // executor of the last one
	CreatedIP string       `db:"created_ip"`
	UpdatedIP string       `db:"updated_ip"`
	RequestID string       `db:"request_id"`
	Source    string       `db:"source"`
}

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

// Compare orders positions: -1, 0 or 1.
func (p Position) Compare(other Position) int {
	return cmp.Or(cmp.Compare(p.At, other.At), strings.Compare(p.ID, other.ID))
}

// Positioned is a row of a list.
type Positioned interface{ Position() Position }

// Range is a requested page: at most Limit rows between After and Before, both exclusive. Rows are counted from the
// list's beginning or, if Backward, from its end; they are returned in the list's order in both cases.
type Range struct {
	After, Before Position // zero: from the beginning, to the end
	AfterID       string   // in place of After: the id of a row in the only list, also of a deleted row
	Limit         int
	Backward      bool
}

// Page is a part of a list.
type Page[T any] struct {
	Items       []T
	HasPrevious bool // there is a row before the first of Items, or there was one: the range has an After
	HasNext     bool // there is a row after the last of Items, or there was one: the range has a Before
}
