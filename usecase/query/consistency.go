package query

import (
	"context"
	"errors"
	"fmt"
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
	// Shows returns an [es.NotFound] error if the viewer must not know the version; nil: only the trusted may.
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
