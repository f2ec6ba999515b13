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

// Awaitable is an aggregate type whose versions tokens can name.
type Awaitable struct {
	Type   string
	Global bool // it belongs to the tenant with the empty code, whoever asks
	// Shows reports whether the viewer may know the version of the aggregate; nil: only those who are trusted with all.
	// Like an error that is [es.NotFound], false means not.
	Shows func(ctx context.Context, viewer Viewer, id string) (bool, error)
}

// awaitable returns the types of the core. A token without a type has the first.
func (q *Queries) awaitable() []Awaitable {
	return []Awaitable{
		{Type: thread.AggregateType, Shows: func(ctx context.Context, viewer Viewer, id string) (bool, error) {
			parsed, err := ident.Parse[thread.Thread](id)
			if err == nil { // also for those who have left it, and of a deleted one, because they wait for that
				_, err = q.ThreadPosition(ctx, viewer, parsed)
			}
			return true, err
		}},
		// Every account of the tenant sees all accounts.
		{Type: account.AggregateType, Shows: func(context.Context, Viewer, string) (bool, error) { return true, nil }},
	}
}

// Add makes tokens of more types known. Call it before the first query.
func (q *Queries) Add(types ...Awaitable) { q.types = append(q.types, types...) }

func (q *Queries) awaitableOf(name string) Awaitable {
	return q.types[slices.IndexFunc(q.types, func(known Awaitable) bool { return known.Type == name })]
}

// ParseTokens parses the Consistency-Token header: 1 to [MaxTokens] times <type>-<id>:<version>, separated by commas.
// The type may be left out for a thread. Anything else is an [ident.InvalidError].
func (q *Queries) ParseTokens(header string) ([]Token, error) {
	if strings.Count(header, ",") >= MaxTokens {
		return nil, q.invalidTokens()
	}
	var tokens []Token
	for text := range strings.SplitSeq(header, ",") {
		token, valid := q.parseToken(strings.TrimSpace(text))
		if !valid {
			return nil, q.invalidTokens()
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

func (q *Queries) invalidTokens() error {
	forms := "<" + q.types[0].Type + " id>:<version>"
	for _, known := range q.types[1:] {
		if known.Shows != nil {
			forms += ", " + known.Type + "-<id>:<version>"
		}
	}
	if last := strings.LastIndex(forms, ", "); last >= 0 {
		forms = forms[:last] + " or " + forms[last+2:]
	}
	return &ident.InvalidError{
		Field: "Consistency-Token", Reason: fmt.Sprintf("must be 1 to %d tokens of the form %s, separated by commas", MaxTokens, forms),
	}
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
	q.settings.Waited(time.Since(began), err)
	if err != nil && span.IsRecording() {
		span.SetStatus(codes.Error, err.Error())
	}
	return err
}

// awaitShown returns if the viewer may know the versions of the aggregates, and otherwise when ctx ends.
func (q *Queries) awaitShown(ctx context.Context, viewer Viewer, keys map[es.AggregateID]uint64) error {
	for key := range keys {
		shown, err := false, error(nil)
		if shows := q.awaitableOf(key.Type).Shows; shows != nil {
			shown, err = shows(ctx, viewer, key.ID)
		}
		if err != nil && es.KindOf(err) != es.NotFound {
			return err
		}
		if !shown || err != nil {
			<-ctx.Done()
			return ctx.Err()
		}
	}
	return nil
}

// ThreadChanges yields the thread as the viewer sees it: its current state, then a state after each change. When
// changes arrive faster than they are read, intermediate states are skipped, never the latest. The sequence ends with
// the first error ([thread.ErrThreadNotFound] when the thread is deleted or the viewer is no longer a member), and
// without an error when ctx ends.
func (q *Queries) ThreadChanges(ctx context.Context, viewer Viewer, id thread.ID) iter.Seq2[Thread, error] {
	return Changes(ctx, q, viewer.key(id), func(ctx context.Context) (Thread, uint64, error) {
		found, err := q.Thread(ctx, viewer, id)
		return found, found.Version, err
	})
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
