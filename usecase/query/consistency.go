package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/codes"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/tenant"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/extras/tasks/task"
)

// Settings of [Queries]. Zero fields take their defaults.
type Settings struct {
	WaitTimeout time.Duration // how long a query waits for the versions of its tokens; default 2 s

	// Waited is called after each wait for tokens, for metrics; nil: no metrics.
	Waited func(took time.Duration, err error)
}

func (s Settings) withDefaults() Settings {
	s.WaitTimeout = cmp.Or(s.WaitTimeout, 2*time.Second)
	if s.Waited == nil {
		s.Waited = func(time.Duration, error) {}
	}
	return s
}

// MaxTokens is the maximum number of consistency tokens in a query.
const MaxTokens = 20

// Token is a consistency token: the answer must include this version of the aggregate.
type Token struct {
	Type, ID string // of the aggregate
	Version  uint64
}

// key returns the aggregate's key for a tenant. Registered tenants belong to the tenant with the empty code.
func (t Token) key(of es.Tenant) es.AggregateID {
	if t.Type == tenant.AggregateType {
		of = es.Tenant("")
	}
	return es.AggregateID{Tenant: of, Type: t.Type, ID: t.ID}
}

// tokenTypes are the aggregate types that tokens can name. A token without a type has the first.
var tokenTypes = []string{
	thread.AggregateType,
	account.AggregateType,
	tenant.AggregateType,
	task.AggregateType,
}

// ParseTokens parses the Consistency-Token header: 1 to [MaxTokens] times <type>-<id>:<version>, separated by commas.
// The type may be left out for a thread. Anything else is an [ident.InvalidError].
func ParseTokens(header string) ([]Token, error) {
	invalid := &ident.InvalidError{
		Field:  "Consistency-Token",
		Reason: fmt.Sprintf("must be 1 to %d tokens of the form <thread id>:<version>, account-<id>:<version> or task-<id>:<version>, separated by commas", MaxTokens),
	}
	if strings.Count(header, ",") >= MaxTokens {
		return nil, invalid
	}
	var tokens []Token
	for text := range strings.SplitSeq(header, ",") {
		token, valid := parseToken(strings.TrimSpace(text))
		if !valid {
			return nil, invalid
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

func parseToken(text string) (token Token, valid bool) {
	id, versionText, _ := strings.Cut(text, ":")
	token.Type = tokenTypes[0]
	for _, name := range tokenTypes {
		if rest, named := strings.CutPrefix(id, name+"-"); named {
			token.Type, id = name, rest
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
		key := token.key(viewer.Tenant)
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
	q.settings.Waited(time.Since(began), err)
	if err != nil && span.IsRecording() {
		span.SetStatus(codes.Error, err.Error())
	}
	return err
}

// awaitShown returns if the viewer may know the versions of the aggregates, and otherwise when ctx ends.
func (q *Queries) awaitShown(ctx context.Context, viewer Viewer, keys map[es.AggregateID]uint64) error {
	for key := range keys {
		shown, err := q.showsVersion(ctx, viewer, key)
		if err != nil {
			return err
		}
		if !shown {
			<-ctx.Done()
			return ctx.Err()
		}
	}
	return nil
}

// showsVersion reports whether the viewer may know the version of an aggregate. Those who have left a thread may, and
// those of a deleted one, because they wait for that.
func (q *Queries) showsVersion(ctx context.Context, viewer Viewer, key es.AggregateID) (shown bool, err error) {
	switch key.Type {
	case account.AggregateType:
		return true, nil // every account of the tenant sees it
	case thread.AggregateType:
		var id thread.ID
		if id, err = ident.Parse[thread.Thread](key.ID); err == nil {
			_, err = q.ThreadPosition(ctx, viewer, id)
		}
	case task.AggregateType:
		var id task.ID
		if id, err = ident.Parse[task.Task](key.ID); err == nil {
			_, err = q.Task(ctx, viewer, id)
		}
	default:
		return false, nil
	}
	if es.KindOf(err) == es.NotFound {
		return false, nil
	}
	return err == nil, err
}

// ThreadChanges yields the thread as the viewer sees it: its current state, then a state after each change. When
// changes arrive faster than they are read, intermediate states are skipped, never the latest. The sequence ends with
// the first error ([thread.ErrThreadNotFound] when the thread is deleted or the viewer is no longer a member), and
// without an error when ctx ends.
func (q *Queries) ThreadChanges(ctx context.Context, viewer Viewer, id thread.ID) iter.Seq2[Thread, error] {
	return changes(ctx, q, viewer.key(id), func(ctx context.Context) (Thread, uint64, error) {
		found, err := q.Thread(ctx, viewer, id)
		return found, found.Version, err
	})
}

const readTimeout = 5 * time.Second // for one read of a subscription

// changes yields what read returns, then again after each change of the aggregate, until the first error or ctx's end.
func changes[T any](ctx context.Context, q *Queries, key es.AggregateID, read func(context.Context) (T, uint64, error)) iter.Seq2[T, error] {
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
