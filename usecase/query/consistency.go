package query

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

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
	Global bool // it belongs to the tenant with the empty code, whoever asks
	// Shows returns an error that is [es.NotFound] if the viewer must not know the version of the aggregate. Without
	// Shows, only those who are trusted with all versions may.
	Shows func(ctx context.Context, viewer Viewer, id string) error
}

// awaitable returns the types of the core. A token without a type has the first.
func (q *Queries) awaitable() []Awaitable {
	return []Awaitable{
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
}

// Add makes tokens of more types known. Call it before the first query.
func (q *Queries) Add(types ...Awaitable) { q.types = append(q.types, types...) }

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
		if q.awaitableOf(token.Type).Global {
			key.Tenant = ""
		}
		least[key] = max(least[key], token.Version)
		if span.IsRecording() {
			span.SetAttributes(es.VersionAttribute(key, token.Version))
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

// The pauses between two polls of a [Watcher].
const (
	urgentPause  = 5 * time.Millisecond   // while a query waits for a version
	relaxedPause = 50 * time.Millisecond  // while only subscriptions wait
	brokenPause  = 500 * time.Millisecond // while the read model cannot be read
)

const versionsTimeout = 2 * time.Second // for one read of versions

// VersionReader reads the versions of aggregates in the read model.
type VersionReader interface {
	// Versions returns the version of each aggregate that the read model knows. Everything up to that version can be
	// read when the call returns. It is safe for concurrent use.
	Versions(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error)
}

// Watcher waits for versions to arrive in the read model. One read serves all waiting queries and subscriptions; while
// there are none, it reads nothing. It is safe for concurrent use.
type Watcher struct {
	versions VersionReader
	log      *slog.Logger
	kick     chan struct{} // requests a read at once

	mu    sync.Mutex
	waits map[*waiter]struct{}
}

// waiter is a caller that waits for aggregates to reach versions.
type waiter struct {
	least  map[es.AggregateID]uint64 // versions still missing
	urgent bool
	done   chan error // receives one result
}

// NewWatcher returns a watcher. Waiting callers are only answered by [Watcher.Run] or [Watcher.Wake].
func NewWatcher(versions VersionReader, log *slog.Logger) *Watcher {
	return &Watcher{versions: versions, log: log, kick: make(chan struct{}, 1), waits: map[*waiter]struct{}{}}
}

// Await returns when every aggregate has reached its version. It fails with ctx's error, or with the error of reading
// the versions.
func (w *Watcher) Await(ctx context.Context, least map[es.AggregateID]uint64) error {
	return w.await(ctx, &waiter{least: maps.Clone(least), urgent: true, done: make(chan error, 1)})
}

// AwaitChange returns when the aggregate's version is above after. It fails with ctx's error.
func (w *Watcher) AwaitChange(ctx context.Context, key es.AggregateID, after uint64) error {
	return w.await(ctx, &waiter{least: map[es.AggregateID]uint64{key: after + 1}, done: make(chan error, 1)})
}

func (w *Watcher) await(ctx context.Context, wait *waiter) error {
	w.mu.Lock()
	idle := len(w.waits) == 0
	w.waits[wait] = struct{}{}
	w.mu.Unlock()
	if idle || wait.urgent {
		select {
		case w.kick <- struct{}{}:
		default:
		}
	}
	select {
	case err := <-wait.done:
		return err
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.waits, wait)
		return ctx.Err()
	}
}

// Wake reports versions that aggregates have reached, so that callers need not wait for the next read. A projection in
// the same process calls it after a commit.
func (w *Watcher) Wake(versions map[es.AggregateID]uint64) {
	w.endIf(nil, func(wait *waiter) bool {
		maps.DeleteFunc(wait.least, func(key es.AggregateID, least uint64) bool { return versions[key] >= least })
		return len(wait.least) == 0
	})
}

// endIf gives the waiters that meet a condition their result.
func (w *Watcher) endIf(result error, over func(*waiter) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wait := range w.waits {
		if over(wait) {
			delete(w.waits, wait)
			wait.done <- result
		}
	}
}

// Run polls for versions until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	broken := false
	for ctx.Err() == nil {
		keys, pause := w.pending()
		if len(keys) > 0 {
			err := w.read(ctx, keys)
			switch {
			case err != nil && ctx.Err() == nil:
				if !broken {
					w.log.ErrorContext(ctx, "can't read the versions of the read model; queries with a consistency token fail until it can be read", "error", err)
				}
				pause = brokenPause
			case err == nil && broken:
				w.log.InfoContext(ctx, "the versions of the read model can be read again")
			}
			broken = err != nil
		}
		var next <-chan time.Time
		if pause > 0 {
			next = time.After(pause)
		}
		select {
		case <-ctx.Done():
		case <-w.kick:
		case <-next:
		}
	}
}

// pending lists the aggregates that callers wait for, and the delay until the next read; 0: wait for a caller.
func (w *Watcher) pending() (keys []es.AggregateID, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := map[es.AggregateID]uint64{}
	for wait := range w.waits {
		if wait.urgent {
			pause = urgentPause
		} else if pause == 0 {
			pause = relaxedPause
		}
		maps.Copy(known, wait.least)
	}
	return slices.Collect(maps.Keys(known)), pause
}

// read reads the versions once. On failure, queries get the error, because their clients can retry; subscriptions keep
// waiting.
func (w *Watcher) read(ctx context.Context, keys []es.AggregateID) error {
	ctx, cancel := context.WithTimeout(ctx, versionsTimeout)
	defer cancel()
	versions, err := w.versions.Versions(ctx, keys)
	if err != nil {
		w.endIf(err, func(wait *waiter) bool { return wait.urgent })
		return err
	}
	w.Wake(versions)
	return nil
}
