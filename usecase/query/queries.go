// Package query answers questions about the read model, as one viewer sees it. The GraphQL adapter calls [Queries], and
// interfaceadaptor/readmodel/queryreader implements [Reader] with SQL.
//
// The read model follows the journal with a delay. A [projection.Watcher] lets queries wait for versions.
package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/codes"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
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
	q.types = []Awaitable{ // a token without a type has the first
		// extra:chat {
		{Type: thread.AggregateType, Shows: func(ctx context.Context, viewer Viewer, id string) error {
			parsed, err := ident.Parse[thread.Thread](id)
			if err == nil { // also for those who have left it, and of a deleted one, because they wait for that
				err = q.WasMember(ctx, viewer, parsed)
			}
			return err
		}},
		// Every account of the tenant sees all accounts.
		{Type: account.AggregateType, Shows: func(context.Context, Viewer, string) error { return nil }},
		// extra:chat }
		// Other types.
	}
	return q
}

// MaxTokens is the maximum number of consistency tokens in a query.
const MaxTokens = 20

// Token is a consistency token: the answer must include this version of the aggregate.
type Token struct {
	Type, ID string // of the aggregate
	Version  uint64
}

// Awaitable is an aggregate type whose versions tokens can name.
type Awaitable struct {
	Type   string
	Global bool // it belongs to the tenant with the empty code, whoever asks // extra:tenants
	// Shows returns nil if the viewer may know the version, and an [es.NotFound] error if not. If Shows itself is not
	// set, only trusted callers may know it.
	Shows func(ctx context.Context, viewer Viewer, id string) error
}

// Add makes tokens of more types known. Call it before the first query. // extra:tasks|tenants {
func (q *Queries) Add(types ...Awaitable) { q.types = append(q.types, types...) } // extra:tasks|tenants }

func (q *Queries) awaitableOf(name string) Awaitable {
	return q.types[slices.IndexFunc(q.types, func(known Awaitable) bool { return known.Type == name })]
}

// ParseTokens parses the Consistency-Token header: 1 to [MaxTokens] times <type>-<id>:<version>, separated by commas.
// The type may be left out for the first of the types. Anything else is an [ident.InvalidError].
func (q *Queries) ParseTokens(header string) ([]Token, error) {
	var tokens []Token
	for text := range strings.SplitSeq(header, ",") {
		token, valid := q.parseToken(strings.TrimSpace(text))
		if tokens = append(tokens, token); !valid || len(tokens) > MaxTokens {
			return nil, &ident.InvalidError{Field: "Consistency-Token", Reason: fmt.Sprintf(
				"must be 1 to %d tokens of the form <type>-<id>:<version>, separated by commas", MaxTokens)}
		}
	}
	return tokens, nil
}

func (q *Queries) parseToken(text string) (token Token, valid bool) {
	id, versionText, _ := strings.Cut(text, ":")
	token.Type = q.types[0].Type
	for _, known := range q.types {
		if rest, named := strings.CutPrefix(id, known.Type+"-"); named {
			token.Type, id = known.Type, rest
			break
		}
	}
	parsed, idErr := ident.Parse[any](id)
	version, versionErr := strconv.ParseUint(versionText, 10, 63)
	token.ID, token.Version = parsed.String(), version
	return token, idErr == nil && versionErr == nil && version > 0
}

// Await returns when the read model has reached the versions of the tokens, or with [es.ErrBehind] after WaitTimeout.
// The versions of what the tenant does not have, or what the viewer has no part in, are never reached: a stranger must
// not learn them. The zero user is trusted with all versions.
func (q *Queries) Await(ctx context.Context, viewer Viewer, tokens []Token) error {
	ctx, span := es.StartSpan(ctx, "await consistency token")
	defer span.End()
	began := time.Now()
	least := make(map[es.AggregateID]uint64, len(tokens))
	for _, token := range tokens {
		key := es.AggregateID{Tenant: viewer.Tenant, Type: token.Type, ID: token.ID}
		if q.awaitableOf(token.Type).Global { // extra:tenants {
			key.Tenant = ""
		} // extra:tenants }
		least[key] = max(least[key], token.Version)
		if span.IsRecording() {
			span.SetAttributes(key.VersionAttribute(token.Version))
		}
	}
	waiting, cancel := context.WithTimeoutCause(ctx, q.settings.WaitTimeout, es.ErrBehind)
	defer cancel()
	err := q.watcher.Await(waiting, least)
	if err == nil && !viewer.User.IsZero() {
		err = q.awaitShown(waiting, viewer, least)
	}
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(waiting), es.ErrBehind) {
		err = es.ErrBehind
	}
	if q.settings.Waited != nil {
		q.settings.Waited(time.Since(began), err)
	}
	if err != nil && span.IsRecording() {
		span.SetStatus(codes.Error, err.Error())
	}
	return err
}

// awaitShown returns if the viewer may know the versions of the aggregates, and otherwise when ctx ends.
func (q *Queries) awaitShown(ctx context.Context, viewer Viewer, keys map[es.AggregateID]uint64) error {
	for key := range keys {
		if shows := q.awaitableOf(key.Type).Shows; shows != nil {
			err := shows(ctx, viewer, key.ID)
			if err == nil {
				continue
			}
			if es.KindOf(err) != es.NotFound {
				return err
			}
		}
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

const (
	readTimeout     = 5 * time.Second // for one read of a subscription
	lookAgainAfter  = 50 * time.Millisecond
	lookAgainAtMost = 10 * time.Second
)

// Changes yields what read returns, then again after each change of the aggregate, until the first error or ctx's end.
func Changes[T any](ctx context.Context, q *Queries, key es.AggregateID, read func(context.Context) (T, uint64, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var reached, shown uint64 // the position, and the version of the row
		for behind := 0; ; {
			reading, cancel := context.WithTimeout(ctx, readTimeout)
			seen, version, err := read(reading)
			cancel()
			if ctx.Err() != nil {
				return
			}
			if (err != nil || version == 0 || version != shown) && (!yield(seen, err) || err != nil) {
				return
			}
			shown = version
			wait := time.Hour
			if version < reached { // another replica has answered; or an event was skipped, and the row stays
				wait = es.Backoff(lookAgainAfter, lookAgainAtMost, behind)
				behind++
			} else {
				reached, behind = version, 0
			}
			waiting, stop := context.WithTimeout(ctx, wait)
			err = q.watcher.AwaitChange(waiting, key, reached)
			if err == nil {
				reached++
			}
			over := err != nil && waiting.Err() == nil
			stop()
			if over {
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

// clipped is what the columns of an audit have room for: 255 characters.
func clipped(text string) string {
	if len(text) <= 255 { // bytes: most are that short
		return text
	}
	return fmt.Sprintf("%.255s", text)
}

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
