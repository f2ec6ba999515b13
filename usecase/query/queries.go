// Package query answers questions about the read model, as one viewer sees it. The GraphQL adapter calls [Queries], and
// interfaceadaptor/readmodel/queryreader implements [Reader] with SQL.
//
// The read model follows the journal with a delay. A [projection.Watcher] lets queries wait for versions.
package query

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Reader reads the read model. It is safe for concurrent use. The number of SQL statements per call depends neither on
// the number of returned rows nor on their position in the list. Errors are those of the domain, or faults, or
// [es.ErrUnavailable], wrapped, if a retry may succeed. An AfterID that is not in the list is an [ident.InvalidError].
type Reader interface {
	ThreadReader  // extra:chat
	AccountReader // extra:chat
}

// Watcher waits for versions of what a [Reader] reads; see [projection.Watcher], which implements it.
type Watcher interface {
	Await(ctx context.Context, least map[es.AggregateID]uint64) error
	AwaitChange(ctx context.Context, key es.AggregateID, after uint64) error
}

var _ Watcher = (*projection.Watcher)(nil)

// Queries answers all queries of the read model, also those that wait or read twice. It is safe for concurrent use.
type Queries struct {
	Reader
	watcher  Watcher
	settings Settings
	types    []Awaitable
}

// Settings of [Queries].
type Settings struct {
	// WaitTimeout limits how long a query waits for the versions of its tokens; default 2 s.
	WaitTimeout time.Duration
	// Waited is called after each wait for tokens, for metrics; it may be nil.
	Waited func(took time.Duration, err error)
}

// New returns queries on reader. watcher must run for [Queries.Await] and [Changes].
func New(reader Reader, watcher Watcher, settings Settings) *Queries {
	settings.WaitTimeout = cmp.Or(settings.WaitTimeout, 2*time.Second)
	q := &Queries{Reader: reader, watcher: watcher, settings: settings}
	q.types = q.awaitable()
	return q
}

const readTimeout = 5 * time.Second // for one read of a subscription

// Changes yields what read returns, then again after each change of the aggregate, until the first error or ctx's end.
func Changes[T any](ctx context.Context, q *Queries, key es.AggregateID, read func(context.Context) (T, uint64, error)) iter.Seq2[T, error] {
	within := func() (T, uint64, error) {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		return read(ctx)
	}
	return func(yield func(T, error) bool) {
		for {
			seen, version, err := within()
			if ctx.Err() != nil || !yield(seen, err) || err != nil {
				return
			}
			if q.watcher.AwaitChange(ctx, key, version) != nil {
				return
			}
		}
	}
}

// Viewer is the user of a query, in a tenant. Readers return only what the viewer may see.
type Viewer struct {
	Tenant es.Tenant
	User   ident.UserID
}

// Audit has the executors of a row's first and last events, and what no API shows: addresses, request and its source.
type Audit struct {
	CreatedBy ident.UserID `db:"created_by"` // executor of the first event in the row
	UpdatedBy ident.UserID `db:"updated_by"` // executor of the last one
	CreatedIP string       `db:"created_ip"`
	UpdatedIP string       `db:"updated_ip"`
	RequestID string       `db:"request_id"`
	Source    string       `db:"source"`
}

// AuditOf returns the audit of a row that an event makes.
func AuditOf(at es.Envelope) (Audit, error) {
	by, err := ident.Parse[ident.UserAccount](at.Executor)
	if err != nil {
		return Audit{}, fmt.Errorf("the executor is %q, which is no user account", at.Executor)
	}
	return Audit{
		CreatedBy: by, UpdatedBy: by, CreatedIP: clipped(at.ClientIP), UpdatedIP: clipped(at.ClientIP),
		RequestID: clipped(at.RequestID), Source: clipped(at.Source),
	}, nil
}

// ChangedBy returns the audit of a row that an event changes; by is the audit of a row that the event makes.
func ChangedBy(by, before Audit) Audit {
	by.CreatedBy, by.CreatedIP = before.CreatedBy, before.CreatedIP
	return by
}

// clipped is what the columns of an audit have room for, in characters.
func clipped(text string) string {
	const room = 255
	if len(text) <= room { // bytes: most are that short
		return text
	}
	runes := []rune(text)
	return string(runes[:min(room, len(runes))])
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
